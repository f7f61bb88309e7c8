"""Faults of one line each, by the folders of the code, and the tests that ought to see them.

A line is named by its text, without indentation, which stands once in the code: so a fault outlives
a move of its file. In its place stands `fault`, or nothing where that is empty. A file of tests is
named without its folder. `run_faults.py` puts the faults into a copy, one at a time.
"""

from typing import NamedTuple


class Fault(NamedTuple):
    """`line` as `fault`, which the files `tests` ought to notice."""

    folder: str
    line: str
    fault: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        folder="ops",
        line="weights = tf.nn.softmax(tf.where(mask, logits, logits.dtype.min), axis=axis)",
        fault="weights = tf.nn.softmax(tf.where(mask, logits, logits.dtype.min), axis=-1)",
        tests=("test_masked_softmax.py",),
    ),
    Fault(
        folder="ops",
        line="return compare[direction](dependents, tf.expand_dims(heads, 1))",
        fault="return compare[direction](tf.expand_dims(heads, 1), dependents)",
        tests=("test_directional_attention.py",),
    ),
    Fault(
        folder="ops",
        line="threshold = min(round(rate * _LEVELS), _LEVELS - 1)",
        fault="threshold = min(round((1.0 - rate) * _LEVELS), _LEVELS - 1)",
        tests=("test_dropout.py",),
    ),
    Fault(
        folder="ops",
        line="weights *= 1.0 - tf.square(tanh)",
        fault="weights *= 1.0 - tanh",
        tests=("test_directional_attention.py",),
    ),
    Fault(
        folder="ops",
        line='end = tf.minimum(heads[-1], length) if direction == "forward" else length',
        fault='end = tf.minimum(heads[-1] - 1, length) if direction == "forward" else length',
        tests=("test_directional_attention.py",),
    ),
    Fault(
        folder="ops",
        line="return to_first, to_second, tf.cast(to_kernel, kernel.dtype), to_vector",
        fault="return to_second, to_first, tf.cast(to_kernel, kernel.dtype), to_vector",
        tests=("test_co_attention_scores.py",),
    ),
    Fault(
        folder="ops",
        line="_scope.portable = before",
        fault="_scope.portable = False",
        tests=("test_runtime.py",),
    ),
    Fault(
        folder="ops",
        line=(
            'parts = [path.read_bytes() for path in sorted([*FOLDER.glob("*.cc"), '
            '*FOLDER.glob("*.h")])]'
        ),
        fault='parts = [path.read_bytes() for path in sorted(FOLDER.glob("*.cc"))]',
        tests=("test_build.py",),
    ),
    Fault(
        folder="ops",
        line="return x >= 0.0f ? x : below;  // 0 stays 0, which 2^0 - 1 is not to the last bit",
        fault="return x > 0.0f ? x : below;",
        tests=("test_elementwise.py",),
    ),
    Fault(
        folder="ops",
        line="const Floats gradient = to_s * f * difference;",
        fault="const Floats gradient = to_h * f * difference;",
        tests=("test_elementwise.py",),
    ),
    Fault(
        folder="ops",
        line="const Floats step = g / (Vector<float>::SquareRoot(squares) + epsilon);",
        fault="const Floats step = g / Vector<float>::SquareRoot(squares + epsilon);",
        tests=("test_rmsprop.py",),
    ),
    Fault(
        folder="ops",
        line=(
            "Store<float>(old_steps * rho + step * step * (1.0f - rho), squared_steps + at, count);"
        ),
        fault="Store<float>(old_steps * rho + step * step * rho, squared_steps + at, count);",
        tests=("test_optimizers.py",),
    ),
    Fault(
        folder="ops",
        line="counter[1] = start[1] + (counter[0] < steps);",
        fault="counter[1] = start[1];",
        tests=("test_dropout.py",),
    ),
    Fault(
        folder="ops",
        line="const Range after = {std::max(tile.begin, dependents_until_[head]), tile.end};",
        fault="const Range after = {std::max(tile.begin, dependents_before_[head]), tile.end};",
        tests=("test_attention.py",),
    ),
    Fault(
        folder="ops",
        line="heads_until_.push_back(heads_before + is_head);",
        fault="heads_until_.push_back(heads_before);",
        tests=("test_attention.py", "test_directional_attention.py"),
    ),
    Fault(
        folder="ops",
        line="const Real limit = kSafe * scale / 2.0;",
        fault="const Real limit = kSafe * scale * 2.0;",
        tests=("test_attention.py",),
    ),
    Fault(
        folder="ops",
        line="to_second[j] += slope;",
        fault="to_second[j] = slope;",
        tests=("test_co_attention_scores.py",),
    ),
    Fault(
        folder="ops",
        line="const Floats f = Logistic(Load<float>(z + 2 * units + at, count) + 1.0f);",
        fault="const Floats f = Logistic(Load<float>(z + 2 * units + at, count));",
        tests=("test_recurrence.py",),
    ),
    Fault(
        folder="ops",
        line="const int64_t token = backward ? step : length - 1 - step;",
        fault="const int64_t token = length - 1 - step;",
        tests=("test_recurrence.py",),
    ),
    Fault(
        folder="ops",
        line="const Words rounded = (bits + (0x7fff + ((bits >> 16) & 1))) >> 16;",
        fault="const Words rounded = (bits + 0x8000) >> 16;",
        tests=("test_attention_precision.py", "test_elementwise.py"),
    ),
    Fault(
        folder="layers",
        line="return self.factor * tf.tanh(tf.matmul(first, second, transpose_b=True))",
        fault="return tf.tanh(self.factor * tf.matmul(first, second, transpose_b=True))",
        tests=("test_co_attention.py",),
    ),
    Fault(
        folder="layers",
        line="target = tf.cast(tf.stop_gradient(x), tf.float32)",
        fault="target = tf.cast(x, tf.float32)",
        tests=("test_bottleneck.py",),
    ),
    Fault(
        folder="layers",
        line="x = self.input_dropout(tf.where(real, x, zero), training=training)",
        fault="x = self.input_dropout(x, training=training)",
        tests=("test_convolution.py",),
    ),
    Fault(
        folder="layers",
        line="return x * tf.where(has_norm, tf.math.rsqrt(tf.where(has_norm, square, 1.0)), 0.0)",
        fault="return x * tf.where(has_norm, tf.math.rsqrt(square), 0.0)",
        tests=("test_co_attention.py",),
    ),
    Fault(
        folder="layers",
        line="scale = tf.where(real & (square > MIN_SQUARED_NORM), scale, 0.0)",
        fault="scale = tf.where(square > MIN_SQUARED_NORM, scale, 0.0)",
        tests=("test_dense_convolution.py",),
    ),
    Fault(
        folder="layers",
        line='return zlib.crc32(f"{seed}/{site}".encode()) & 0x7FFFFFFF',
        fault="return zlib.crc32(site.encode()) & 0x7FFFFFFF",
        tests=("test_dropout.py",),
    ),
    Fault(
        folder="layers",
        line="q += tf.matmul(vectors[-1], projected, transpose_b=True)  # line 7",
        fault="q = tf.matmul(vectors[-1], projected, transpose_b=True)",
        tests=("test_dynamic_attention.py",),
    ),
    Fault(
        folder="layers",
        line="bias = self.token_map.dense.bias + self.context_map.dense.bias + self.bias",
        fault="bias = self.token_map.dense.bias + self.context_map.dense.bias",
        tests=("test_selective.py", "test_disan_golden.py"),
    ),
    Fault(
        folder="layers",
        line="for base in reversed(type(self).__mro__):",
        fault="for base in type(self).__mro__[:1]:",
        tests=("test_serialization.py", "test_encoders.py"),
    ),
    Fault(
        folder="layers",
        line='return 1.0 - rate if check_init_scale(init_scale) == "keep" else rate or 1.0',
        fault='return rate or 1.0 if check_init_scale(init_scale) == "keep" else 1.0 - rate',
        tests=("test_initializers.py",),
    ),
    Fault(
        folder="layers",
        line="return tf.where(real, new, state), tf.where(real, probability, 0.0), selected",
        fault="return new, tf.where(real, probability, 0.0), selected",
        tests=("test_iterative_sampling.py",),
    ),
    Fault(
        folder="layers",
        line="return tf.keras.regularizers.L2(0.5 * l2) if l2 else None",
        fault="return tf.keras.regularizers.L2(l2) if l2 else None",
        tests=("test_directional.py", "test_convolution.py", "test_multi_dim.py"),
    ),
    Fault(
        folder="layers",
        line="last = [self.forward(x, mask=mask)[:, -1], self.backward(x, mask=mask)[:, 0]]",
        fault="last = [self.forward(x, mask=mask)[:, -1], self.backward(x, mask=mask)[:, -1]]",
        tests=("test_multiway.py",),
    ),
    Fault(
        folder="layers",
        line="self._positions = (tf.gather(starts, places[:, 0]) + places[:, 1])[:, None]",
        fault="self._positions = tf.gather(starts, places[:, 0])[:, None]",
        tests=("test_packing.py",),
    ),
    Fault(
        folder="layers",
        line="return tf.add_n(chosen) / (len(chosen) * token_counts(mask))",
        fault="return tf.add_n(chosen) / token_counts(mask)",
        tests=("test_reinforced.py",),
    ),
    Fault(
        folder="layers",
        line="total, count = total - real, tf.maximum(1.0, count - 1.0)",
        fault="total, count = total - real, count",
        tests=("test_selective.py",),
    ),
    Fault(
        folder="encoders",
        line='names = self.directions if len(set(self.directions)) == 2 else ("first", "second")',
        fault="names = self.directions",
        tests=("test_encoders.py", "test_baselines_golden.py"),
    ),
    Fault(
        folder="encoders",
        line="u_bw = self.backward_block(x_bw, mask=mask, training=training)",
        fault="u_bw = self.forward_block(x_bw, mask=mask, training=training)",
        tests=("test_disan_golden.py",),
    ),
    Fault(
        folder="encoders",
        line="if layer > 2 and not self.own_parameters:",
        fault="if layer > 3 and not self.own_parameters:",
        tests=("test_drcn.py",),
    ),
    Fault(
        folder="encoders",
        line='return {**self.child_options(name), "dropout": 0.0}',
        fault="return self.child_options(name)",
        tests=("test_drcn.py",),
    ),
    Fault(
        folder="encoders",
        line='options = {**self.child_options("attention"), "dropout": 0.0}',
        fault='options = self.child_options("attention")',
        tests=("test_dsa.py",),
    ),
    Fault(
        folder="encoders",
        line="return tf.where(tf.expand_dims(mask, -1), maps, maps.dtype.min)",
        fault="return tf.where(tf.expand_dims(mask, -1), maps, tf.zeros([], maps.dtype))",
        tests=("test_resan_baselines.py",),
    ),
    Fault(
        folder="encoders",
        line="last = mask & (tf.cumsum(real, axis=1, reverse=True) == 1)",
        fault="last = tf.cumsum(real, axis=1, reverse=True) == 1",
        tests=("test_dsa.py",),
    ),
    Fault(
        folder="encoders",
        line="return self.source2token(x, mask=selections.heads[0], training=training)",
        fault="return self.source2token(x, mask=mask, training=training)",
        tests=("test_resan.py",),
    ),
    Fault(
        folder="elmo",
        line="inner = layers[:, 1:-1]  # without the markers",
        fault="inner = layers[:, :-2]",
        tests=("test_bilm.py",),
    ),
    Fault(
        folder="elmo",
        line="outputs.append(h + below if self.skip_connections and number else h)",
        fault="outputs.append(h + below if self.skip_connections else h)",
        tests=("test_bilm.py", "test_official_files.py"),
    ),
    Fault(
        folder="elmo",
        line='"weights": sha256(weights),',
        fault='"weights": weights.name,',
        tests=("test_cache.py",),
    ),
    Fault(
        folder="elmo",
        line="if number >= done:",
        fault="if number > done:",
        tests=("test_cache.py",),
    ),
    Fault(
        folder="elmo",
        line="parts[part][key] = (value or None) if name in _OR_NONE else value",
        fault="parts[part][key] = value",
        tests=("test_official_files.py",),
    ),
    Fault(
        folder="elmo",
        line="weights = self.gamma * tf.nn.softmax(self.logits)",
        fault="weights = tf.nn.softmax(self.gamma * self.logits)",
        tests=("test_scalar_mix.py",),
    ),
    Fault(
        folder="elmo",
        line="words = words[:, : real_length(words) + widest]",
        fault="words = words[:, : tf.maximum(real_length(words), widest)]",
        tests=("test_token_encoder.py", "test_bilm.py"),
    ),
    Fault(
        folder="elmo",
        line='for name, part in {"carry": highway.gate, "transform": highway.transform}.items():',
        fault='for name, part in {"transform": highway.gate, "carry": highway.transform}.items():',
        tests=("test_official_files.py",),
    ),
    Fault(
        folder="layers",
        line="hidden = self.highway(hidden, training=training)",
        fault="hidden = self.highway(hidden, training=False)",
        tests=("test_highway.py",),
    ),
    Fault(
        folder="models",
        line="for h, targets in ((forward[:, :-1], following), (backward[:, 1:], before))",
        fault="for h, targets in ((forward[:, :-1], before), (backward[:, 1:], following))",
        tests=("test_language_model.py",),
    ),
    Fault(
        folder="models",
        line='"difference": lambda p, h: [p, h, p - h, p * h],',
        fault='"difference": lambda p, h: [h, p, p - h, p * h],',
        tests=("test_nli.py", "test_snli_golden.py"),
    ),
    Fault(
        folder="models",
        line="return tf.concat([first * second, tf.abs(first - second)], axis=-1)",
        fault="return tf.concat([first * second, first - second], axis=-1)",
        tests=("test_relatedness.py",),
    ),
    Fault(
        folder="metrics",
        line="return pearson(rankdata(predictions), rankdata(labels))",
        fault="return pearson(predictions, labels)",
        tests=("test_correlations.py",),
    ),
    Fault(
        folder="models",
        line='options = {"dropout": config.train.dropout, **_without(config.encoder, "name")}',
        fault='options = {**_without(config.encoder, "name"), "dropout": config.train.dropout}',
        tests=("test_factory.py",),
    ),
    Fault(
        folder="training",
        line="best_score=self.best_score,",
        fault="",
        tests=("test_loop.py",),
    ),
    Fault(
        folder="training",
        line='_MAY_GROW = {"train.steps", "train.patience"}',
        fault="_MAY_GROW = set()",
        tests=("test_experiment.py",),
    ),
    Fault(
        folder="training",
        line="return self.distribution.dataset(self.train, self.plan.batches(epoch)[done:])",
        fault="return self.distribution.dataset(self.train, self.plan.batches(epoch))",
        tests=("test_loop.py",),
    ),
    Fault(
        folder="training",
        line="if score > float(self._state.best_score):",
        fault="if score >= float(self.state.best_score):",
        tests=("test_loop.py",),
    ),
    Fault(
        folder="training",
        line='records = [record for record in self.read(path) if record["step"] <= last_step]',
        fault="records = self.read(path)",
        tests=("test_loop.py",),
    ),
    Fault(
        folder="training",
        line="variable.assign(value)",
        fault="variable.assign(variable)",
        tests=("test_addons.py", "test_loop.py"),
    ),
    Fault(
        folder="training",
        line="if loss < float(self._best.numpy()) * (1.0 - self._threshold):",
        fault="if loss < float(self._best.numpy()) * (1.0 + self._threshold):",
        tests=("test_plateau.py",),
    ),
    Fault(
        folder="training",
        line='"baseline": self.baseline.sums,',
        fault="",
        tests=("test_policy_steps.py", "test_policy_training.py"),
    ),
    Fault(
        folder="training",
        line=(
            "return -(losses + penalty * selections.dependent_fraction * selections.head_fraction)"
        ),
        fault=(
            "return -(losses - penalty * selections.dependent_fraction * selections.head_fraction)"
        ),
        tests=("test_rewards.py",),
    ),
    Fault(
        folder="training",
        line="return total - hard if samplers else total, hard",
        fault="return total, hard",
        tests=("test_policy_step_golden.py", "test_resan_golden.py"),
    ),
    Fault(
        folder="training",
        line='self.saved["plateau"] = self._plateau.state',
        fault="",
        tests=("test_dsa_training.py",),
    ),
    Fault(
        folder="training",
        line=(
            'after["seconds"] - before["seconds"] for before, after in pairs if after["split"] == '
            '"train"'
        ),
        fault='after["seconds"] - before["seconds"] for before, after in pairs',
        tests=("test_run_summary.py",),
    ),
    Fault(
        folder="serving",
        line="return tensor.mean(axis=-1, dtype=np.float64).round(6).tolist()",
        fault="return tensor.mean(axis=0, dtype=np.float64).round(6).tolist()",
        tests=("test_attend.py",),
    ),
    Fault(
        folder="text",
        line="rest += block",
        fault="rest = block",
        tests=("test_text_files.py",),
    ),
    Fault(
        folder="reporting",
        line="share = n[0] / (n[0] + 2 * n[1])",
        fault="share = n[0] / (n[0] + n[1])",
        tests=("test_ngrams.py",),
    ),
    Fault(
        folder="serving",
        line="if middle and len(batch) * lengths[batch].max(axis=0).sum() > MAX_POSITIONS:",
        fault="if middle and len(batch) * lengths[batch].max() > MAX_POSITIONS:",
        tests=("test_predict.py",),
    ),
    Fault(
        folder="training",
        line="return float(np.std(values, ddof=1)) if len(values) > 1 else None",
        fault="return float(np.std(values)) if len(values) > 1 else None",
        tests=("test_series.py",),
    ),
    Fault(
        folder="training",
        line='and is_over(config.train, dev[-1]["step"], best_step(workdir))',
        fault="",
        tests=("test_run_summary.py",),
    ),
    Fault(
        folder="serving",
        line="if self.sizes.get(name, rows) != rows:",
        fault="if self.sizes.get(name, rows) < rows:",
        tests=("test_output_formats.py",),
    ),
    Fault(
        folder="serving",
        line="axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]",
        fault="",
        tests=("test_weight_vectors.py",),
    ),
    Fault(
        folder="reporting",
        line='if name == "disan" and config["task"]["highway"]:',
        fault='if name == "disan":',
        tests=("test_resan_tables.py",),
    ),
    Fault(
        folder="serving",
        line="mask = ids != 0 if mean.shape.rank == 2 else (ids != 0)[:, :, None]",
        fault="mask = ids != 0 if mean.shape.rank == 2 else (ids != 0)[:, None]",
        tests=("test_saved_model.py",),
    ),
    Fault(
        folder="serving",
        line='bundle = load_bundle(bundle_directory, attention_form="saved")',
        fault="bundle = load_bundle(bundle_directory)",
        tests=("test_saved_model.py",),
    ),
    Fault(
        folder="serving",
        line='digest = sha256(checkpoints / name / "model.json")',
        fault='digest = sha256(checkpoints / name / "vocabulary.txt")',
        tests=("test_released.py",),
    ),
    Fault(
        folder="input_pipeline",
        line="generator = np.random.default_rng([seed, epoch])",
        fault="generator = np.random.default_rng([seed])",
        tests=("test_batch_plan.py",),
    ),
    Fault(
        folder="input_pipeline",
        line="return np.sort(order[: examples or available])",
        fault="return order[: examples or available]",
        tests=("test_batch_plan.py", "test_experiment.py"),
    ),
    Fault(
        folder="input_pipeline",
        line="epoch = bisect.bisect_right(self._ends, step)",
        fault="epoch = bisect.bisect_left(self._ends, step)",
        tests=("test_batch_plan.py",),
    ),
    Fault(
        folder="input_pipeline",
        line="turn = np.where(first % 2, -1, 1)",
        fault="turn = np.ones_like(first)",
        tests=("test_batch_plan.py",),
    ),
    Fault(
        folder="input_pipeline",
        line="examples |= {len(offsets) - 1 for offsets in split.offsets.values()}",
        fault="",
        tests=("test_corpus.py",),
    ),
    Fault(
        folder="text",
        line="pieces = tf.strings.bytes_split(tokens)[:, : word_length - 2]",
        fault="pieces = tf.strings.bytes_split(tokens)[:, : word_length - 1]",
        tests=("test_characters.py",),
    ),
    Fault(
        folder="text",
        line=(
            "return fill_empty_rows(tokens.with_flat_values(ids), UNKNOWN_ID).to_tensor(PADDING_ID)"
        ),
        fault="return tokens.with_flat_values(ids).to_tensor(PADDING_ID)",
        tests=("test_lookup.py",),
    ),
    Fault(
        folder="text",
        line="printable = (values >= _FIRST) & (values <= _LAST)",
        fault="printable = (values >= _FIRST) & (values < _LAST)",
        tests=("test_characters.py",),
    ),
    Fault(
        folder="text",
        line="tokens, starts, _ = _split_clitic(tokens, starts)",
        fault="",
        tests=("test_tokenizer.py",),
    ),
    Fault(
        folder="text",
        line='forms = tf.where(forms == "", words, forms)',
        fault="",
        tests=("test_word_forms.py",),
    ),
    Fault(
        folder="benchmark",
        line="fits = 8 * 4 * batch * length**2 * units <= _LARGEST",
        fault="fits = 8 * 4 * batch * length * units <= _LARGEST",
        tests=("test_core_forms.py",),
    ),
    Fault(
        folder="benchmark",
        line="passes = [1 + (1 + product.to_input if backward else 0) for product in products]",
        fault="passes = [3 if backward else 1 for product in products]",
        tests=("test_matmuls.py",),
    ),
    Fault(
        folder="training",
        line='read_weights(model, directory / info["weights"])',
        fault="",
        tests=("test_saved_model.py", "test_predict.py"),
    ),
    Fault(
        folder="training", line="check_digests(directory, info)", fault="", tests=("test_loop.py",)
    ),
    Fault(
        folder="serving",
        line="if not path.is_file() or sha256(path) != digest:",
        fault="if not path.is_file():",
        tests=("test_released.py",),
    ),
    Fault(
        folder="disan_tf",
        line="os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes private files",
        fault="",
        tests=("test_files.py",),
    ),
    Fault(
        folder="disan_tf",
        line=r'return text.removeprefix("\ufeff") if number == 1 else text',
        fault="return text",
        tests=("test_files.py",),
    ),
    Fault(
        folder="disan_tf",
        line="if not 0.0 <= value < 1.0:",
        fault="if not 0.0 <= value <= 1.0:",
        tests=("test_check_config.py",),
    ),
    Fault(
        folder="disan_tf",
        line="return 0.0 if math.isnan(kappa) else kappa",
        fault="return kappa",
        tests=("test_addons.py",),
    ),
    Fault(
        folder="disan_tf",
        line="start_at(self.epoch_progress_tqdm, batch % self.total_steps)",
        fault="start_at(self.epoch_progress_tqdm, batch)",
        tests=("test_addons.py",),
    ),
    Fault(
        folder="disan_tf",
        line=(
            'value, name = FLAGS.workdir and f"{FLAGS.workdir}/prepared", '
            '"workdir or --prepared_dir"'
        ),
        fault='value, name = FLAGS.workdir, "workdir or --prepared_dir"',
        tests=("test_command_line.py",),
    ),
    Fault(
        folder="data_prep",
        line="counter = CountVectorizer(analyzer=list)",
        fault="counter = CountVectorizer(analyzer=list, binary=True)",
        tests=("test_bag_of_words.py",),
    ),
    Fault(
        folder="data_prep",
        line="return np.lexsort((np.random.default_rng(seed).random(len(labels)), labels))",
        fault="return np.random.default_rng(seed).permutation(len(labels))",
        tests=("test_held_out.py",),
    ),
    Fault(
        folder="data_prep",
        line="return int(np.argmax(covered >= share))",
        fault="return int(np.argmax(covered > share))",
        tests=("test_snli.py",),
    ),
    Fault(
        folder="data_prep",
        line="return len({sentences for sentences, _ in first & second})",
        fault="return len(first & second)",
        tests=("test_overlap.py",),
    ),
    Fault(
        folder="data_prep",
        line='for number, line in read_lines(path, "latin-1")',
        fault="for number, line in read_lines(path)",
        tests=("test_polarity.py",),
    ),
    Fault(
        folder="data_prep",
        line="if node.label != NEUTRAL or node.is_sentence",
        fault="if node.label != NEUTRAL",
        tests=("test_sst.py",),
    ),
    Fault(
        folder="data_prep",
        line="by_id[phrase_id] = bisect.bisect_left(BINS, sentiment)",
        fault="by_id[phrase_id] = bisect.bisect_right(BINS, sentiment)",
        tests=("test_sst.py",),
    ),
    Fault(
        folder="data_prep",
        line="if not span or int(span[1]) != start:",
        fault="if not span:",
        tests=("test_fetch.py",),
    ),
    Fault(
        folder="data_prep",
        line=(
            'return path.stat().st_mtime_ns == recorded["mtime_ns"] or sha256(path) == '
            'recorded["sha256"]'
        ),
        fault='return path.stat().st_mtime_ns == recorded["mtime_ns"]',
        tests=("test_reuse.py",),
    ),
    Fault(
        folder="data_prep",
        line=(
            "if text.isascii() and text.isprintable():  # no white space but spaces: a fifth of "
            "the time"
        ),
        fault="if text.isascii():",
        tests=("test_sentence_tokenizer.py",),
    ),
    Fault(
        folder="data_prep",
        line=(
            'SEEDED_DEV = ("trec", *UNSPLIT)  '
            "# corpora whose dev split is drawn from training examples"
        ),
        fault="SEEDED_DEV = UNSPLIT",
        tests=("test_training_texts.py",),
    ),
    Fault(
        folder="data_prep",
        line="if outside or kind not in (0, stat.S_IFREG, stat.S_IFDIR):",
        fault="if outside:",
        tests=("test_unpack.py",),
    ),
    Fault(
        folder="data_prep",
        line='is_word = np.array([word != "" for word in words])  # an empty token matches nothing',
        fault="is_word = np.ones(len(words), bool)",
        tests=("test_word_features.py",),
    ),
    Fault(
        folder="data_prep",
        line='line = line.rstrip(" ")  # word2vec ends its rows with a space',
        fault="",
        tests=("test_word_vectors.py",),
    ),
    Fault(
        folder="configs",
        line="config.train.l2 = 5e-5  # Sec. 5, or by the size of the corpus",
        fault="config.train.l2 = 5e-4",
        tests=("test_papers.py",),
    ),
    Fault(
        folder="configs",
        line="config.encoder.first_units = 150  # App., d_1",
        fault="config.encoder.first_units = 120",
        tests=("test_parameter_counts.py",),
    ),
    Fault(
        folder="configs",
        line="config.train.plateau.factor = 0.15  # Sec. 4.1",
        fault="config.train.plateau.factor = 0.5",
        tests=("test_papers.py",),
    ),
    Fault(
        folder="configs",
        line="config.encoder.filters = ((1, 16), (2, 32), (3, 64), (4, 96), (5, 96), (6, 80))",
        fault="config.encoder.filters = ((1, 16), (2, 32), (3, 64), (4, 96), (5, 96), (6, 96))",
        tests=("test_parameter_counts.py",),
    ),
)
