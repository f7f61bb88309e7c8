
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 760px)");  // words stand below each other, arcs beside them
  const state = { line: 0, view: 0, feature: 0, field: 0, token: 0 };
  const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;  // not allowed in XML
  const NUMBERS = 34;  // pixels of the numbers beside a matrix
  const SHADE = 0.6;  // opacity of the largest weight behind a text
  const FAINT = 0.02;  // of the largest weight: arcs below it are not drawn

  function element(name, options = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(options)) {
      if (key === "text") made.textContent = value;
      else if (key in made && key !== "list") made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  function svg(name, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const words = (name) => name.replaceAll("_", " ");
  const shown = (token) => token === "" ? "\u2205" : token;
  const isolated = (token) => `\u2068${shown(token)}\u2069`;  // whatever the direction of its script
  const brief = (weight) => weight.toFixed(2).replace(/^0/, "");
  const small = (font) => font.replace(/[\d.]+/, (size) => Math.min(11, size));
  const current = () => data.lines[state.line];

  // A tensor's values: bytes of the mean, then of each feature that the page has.
  function decoded(tensor) {
    if (!tensor.bytes) {
      const text = atob(tensor.values);
      tensor.bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    }
    const size = tensor.shape.reduce((product, side) => product * side, 1);
    const part = Math.min(state.feature, tensor.high.length - 1);
    const scale = tensor.high[part] / 255;
    return { at: (index) => tensor.bytes[part * size + index] * scale, high: tensor.high[part], part };
  }

  function featureName(tensor) {
    const numbers = data.features[tensor.name] || [];
    const part = Math.min(state.feature, tensor.high.length - 1);
    return part ? `feature ${numbers[part - 1]}` : "mean";
  }

  // What is drawn between words: all attention within the sentences, or one function and layer.
  function matrices() {
    const { tensors, views } = current();
    const view = views[Math.min(state.view, views.length - 1)];
    return view ? view.tensors.map((index) => tensors[index]) : [];
  }

  function top(weights, count, names) {
    return weights.map((weight, index) => [weight, index]).filter(([weight]) => weight > 0)
      .sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, count)
      .map(([weight, index]) => `${isolated(names[index])} ${weight.toFixed(2)}`).join(", ");
  }

  function drawList() {
    const wanted = find("find").value.toLocaleLowerCase();
    const items = data.lines.map((line, index) => {
      const text = line.text.join(" / ");
      if (wanted && !`${text} ${line.prediction}`.toLocaleLowerCase().includes(wanted)) return null;
      const button = element("button", { type: "button", tabIndex: index === state.line ? 0 : -1 },
        element("span", { text: text.trim() || "(empty line)", dir: "auto" }),
        element("span", { className: "label", text: `${line.number}: ${line.prediction}` }));
      button.dataset.line = index;
      button.setAttribute("aria-current", index === state.line);
      button.addEventListener("click", () => choose(index));
      return element("li", {}, button);
    });
    const found = items.filter(Boolean);
    find("lines").replaceChildren(...found);
    if (found.length && !find("lines").querySelector("[tabindex='0']")) found[0].firstChild.tabIndex = 0;
  }

  function moveFocus(event, buttons, keys) {
    const step = keys[event.key], from = buttons.indexOf(document.activeElement);
    if (step === undefined || from < 0) return;
    event.preventDefault();
    const place = step === -Infinity ? 0 : step === Infinity ? buttons.length - 1
      : Math.max(0, Math.min(buttons.length - 1, from + step));
    for (const button of buttons) button.tabIndex = -1;
    buttons[place].tabIndex = 0;
    buttons[place].focus();
  }

  function choose(index) {
    state.line = index;
    state.field = state.token = 0;
    for (const button of find("lines").querySelectorAll("button")) {
      const isCurrent = Number(button.dataset.line) === index;
      button.setAttribute("aria-current", isCurrent);
      button.tabIndex = isCurrent ? 0 : -1;
    }
    drawLine();
    if (narrow.matches) find("text").scrollIntoView();  // the list stands below
  }

  function drawLine() {
    const line = current();
    find("text").replaceChildren(...line.text.map((text) =>
      element("span", { text: text.trim() || "(empty line)", dir: "auto" })));
    drawPrediction(line);
    const options = line.views.map((view, index) => element("option", { value: index, text: words(view.name) }));
    find("view").replaceChildren(...options);
    state.view = Math.min(state.view, Math.max(0, options.length - 1));
    find("view").value = state.view;
    find("viewed").hidden = options.length < 2;
    const most = Math.max(0, ...line.tensors.map((tensor) => tensor.high.length - 1));
    find("feature").max = most;
    state.feature = Math.min(state.feature, most);
    find("feature").value = state.feature;
    find("featured").hidden = !most;
    drawStage();
  }

  function drawPrediction(line) {
    const rows = line.probabilities.flatMap(([name, probability]) => {
      const bar = element("i");
      bar.style.width = `${100 * probability}%`;
      const isGold = name === line.gold;
      const className = (name === line.prediction ? "predicted " : "") + (isGold ? "gold" : "");
      return [element("span", { text: isGold ? `${name} (gold)` : name, className, dir: "auto" }),
        element("span", { className: `bar ${isGold ? "gold" : ""}` }, bar),
        element("span", { text: `${(100 * probability).toFixed(1)} %`, className })];
    });
    find("prediction").replaceChildren(...rows);
    if (line.isScore)
      find("prediction").prepend(element("b", { text: "score" }), element("span"), element("b", { text: line.prediction }));
  }

  function drawStage() {
    const part = state.feature;
    find("shown").textContent = part ? `single feature, ${part} of ${find("feature").max} on this page` : "mean of all";
    const stage = find("stage");
    const fields = current().fields.map((field, index) => drawField(field, index));
    stage.classList.toggle("beside", matrices().some((tensor) => tensor.kind === "other"));
    stage.replaceChildren(...fields, svg("svg", { id: "arcs", "aria-hidden": "true" }));
    drawMatrices();
    drawArcs();
  }

  function drawField(field, index) {
    const own = current().tensors.filter((tensor) => tensor.kind === "token" && tensor.field === index);
    const shade = shadeOf(own);
    const weights = shade && decoded(shade);
    const words = field.tokens.map((token, place) => element("td", {}, tokenButton(token, index, place, weights)));
    const strips = own.map((tensor) => strip(tensor, field.tokens));
    const drawn = matrices().filter((tensor) => tensor.field === index);
    const isOwn = drawn.some((tensor) => tensor.kind === "own");
    const room = { before: isOwn, after: isOwn && drawn.length > 1, between: !isOwn && drawn.length && index === 0 };
    const lines = narrow.matches ? columns(field.name, words, strips, room) : rows(field.name, words, strips, room);
    const table = element("table", { "aria-label": `Words of the ${field.name}` }, ...lines);
    const keys = narrow.matches ? { ArrowUp: -1, ArrowDown: 1 } : { ArrowLeft: -1, ArrowRight: 1 };
    table.addEventListener("keydown", (event) => moveFocus(event, [...table.querySelectorAll(".token")],
      { ...keys, Home: -Infinity, End: Infinity }));
    return table;
  }

  const shadeOf = (own) => own.find((tensor) => tensor.short === "source2token") || own.find((tensor) => tensor.short === "attention");

  // The words in a row, with room for arcs above and below, and a row for each strip.
  function rows(name, words, strips, room) {
    const gap = () => element("tr", { className: "gap", "aria-hidden": "true" }, element("td"));
    const row = (text, cells) => element("tr", {}, element("th", { text, scope: "row" }), ...cells);
    return [...(room.before ? [gap()] : []), row(name, words), ...(room.after || room.between ? [gap()] : []),
      ...strips.map((each) => row(each.name, each.cells))];
  }

  // The words in a column, with room for arcs on both sides, and a column for each strip.
  function columns(name, words, strips, room) {
    const gaps = (made) => [room.before ? made() : "", room.after ? made() : ""];
    const [before, after] = gaps(() => element("td", { className: "side", "aria-hidden": "true" }));
    const titles = strips.map((each) => element("th", { className: "upright", text: each.name, scope: "col" }));
    const head = element("tr", {}, before, element("th", { text: name, scope: "col" }), after, ...titles);
    const lines = words.map((word, place) => {
      const [left, right] = gaps(() => element("td"));
      return element("tr", {}, left, word, right, ...strips.map((each) => each.cells[place]));
    });
    return [head, ...lines];
  }

  function tokenButton(token, field, place, weights) {
    const button = element("button", { type: "button", className: "token", text: shown(token), dir: "auto" });
    const isActive = field === state.field && place === state.token;
    button.tabIndex = place === (field === state.field ? state.token : 0) ? 0 : -1;
    button.setAttribute("aria-pressed", isActive);
    if (weights) shadeBy(button, weights.at(place), weights.high);
    const activate = () => activateToken(field, place);
    for (const event of ["pointerenter", "focus", "click"]) button.addEventListener(event, activate);
    button.dataset.field = field;
    button.dataset.place = place;
    return button;
  }

  function shadeBy(node, weight, high) {
    const share = high ? weight / high : 0;
    node.dataset.alpha = (SHADE * share).toFixed(3);
    node.style.background = `rgba(${colour("--weight")}, ${node.dataset.alpha})`;
    node.title = weight.toFixed(3);
  }

  function strip(tensor, tokens) {
    const weights = decoded(tensor);
    const cells = tokens.map((_, place) => {
      const weight = weights.at(place);
      const isMark = tensor.short.startsWith("selected");
      const text = isMark ? (weight ? "\u2713" : "") : brief(weight);
      const cell = element("td", { className: "cell", text });
      shadeBy(cell, weight, isMark || tensor.short.endsWith("gate") ? 1 : weights.high);
      return cell;
    });
    return { name: `${words(tensor.short)}, ${featureName(tensor)}`, cells };
  }

  function activateToken(field, place) {
    if (state.field === field && state.token === place && find("arcs").childElementCount) return;
    state.field = field;
    state.token = place;
    for (const button of find("stage").querySelectorAll(".token"))
      button.setAttribute("aria-pressed", Number(button.dataset.field) === field && Number(button.dataset.place) === place);
    drawArcs();
    for (const canvas of find("matrices").querySelectorAll("canvas")) canvas.redraw();
  }

  // The weights that the active word gives, by tensor.
  function given(tensor) {
    const { at } = decoded(tensor), columns = tensor.shape[1];
    return Array.from({ length: columns }, (_, place) => at(state.token * columns + place));
  }

  function drawArcs() {
    const stage = find("stage"), arcs = find("arcs"), frame = stage.getBoundingClientRect();
    arcs.setAttribute("width", stage.scrollWidth);
    arcs.setAttribute("height", stage.scrollHeight);
    const middle = (field, place) => {
      const box = stage.querySelector(`.token[data-field="${field}"][data-place="${place}"]`).getBoundingClientRect();
      return { x: box.left + box.width / 2 - frame.left, y: box.top + box.height / 2 - frame.top,
        top: box.top - frame.top, bottom: box.bottom - frame.top, left: box.left - frame.left, right: box.right - frame.left };
    };
    const paths = [], spoken = [], fields = current().fields;
    const active = fields[state.field].tokens[state.token];
    matrices().filter((tensor) => tensor.field === state.field).forEach((tensor, number) => {
      const other = tensor.kind === "other" ? 1 - tensor.field : tensor.field;
      const weights = given(tensor), high = Math.max(...weights, 0);
      const from = middle(state.field, state.token);
      weights.forEach((weight, place) => {
        if (weight <= FAINT * high || weight === 0) return;
        const path = other === tensor.field ? bow(from, middle(other, place), number) : line(from, middle(other, place));
        paths.push(svg("path", { d: path, ...strokes(number ? "backward" : "forward"),
          "stroke-width": (0.8 + 6 * weight).toFixed(2), "stroke-opacity": (0.2 + 0.8 * weight / high).toFixed(2) }));
      });
      const names = top(weights, 4, fields[other].tokens);
      spoken.push(`${words(tensor.short)}: ${names || "nothing"}`);
    });
    arcs.replaceChildren(...paths);
    find("key").replaceChildren(...keys().map(drawKey));
    find("readout").textContent = spoken.length ? `${isolated(active)} attends to \u2014 ${spoken.join("; ")}` : "";
  }

  // An arc above the words for the first attention of a sentence, below them for the second; left
  // and right of them where they stand below each other.
  function bow(from, to, number) {
    const up = number % 2 === 0, edge = narrow.matches ? (up ? "left" : "right") : up ? "top" : "bottom";
    if (narrow.matches) {
      const width = Math.min(46, 12 + Math.abs(to.y - from.y) / 6) * 1.3;
      const reach = (end) => end[edge] + (up ? -width : width);
      return `M ${from[edge]} ${from.y} C ${reach(from)} ${from.y}, ${reach(to)} ${to.y}, ${to[edge]} ${to.y}`;
    }
    const height = Math.min(72, 14 + Math.abs(to.x - from.x) / 4) * 1.3;
    const bend = from[edge] + (up ? -height : height);
    return `M ${from.x} ${from[edge]} C ${from.x} ${bend}, ${to.x} ${bend}, ${to.x} ${to[edge]}`;
  }

  function line(from, to) {
    if (narrow.matches) {
      const right = to.left > from.left, start = right ? from.right : from.left, end = right ? to.left : to.right;
      const half = (start + end) / 2;
      return `M ${start} ${from.y} C ${half} ${from.y}, ${half} ${to.y}, ${end} ${to.y}`;
    }
    const down = to.top > from.top;
    const start = down ? from.bottom : from.top, end = down ? to.top : to.bottom, half = (start + end) / 2;
    return `M ${from.x} ${start} C ${from.x} ${half}, ${to.x} ${half}, ${to.x} ${end}`;
  }

  // What lines and colours mean: of the words, their arcs and strips, and of the matrices.
  function keys() {
    const own = current().tensors.filter((tensor) => tensor.kind === "token" && tensor.field === state.field);
    const arcs = matrices().filter((tensor) => tensor.field === state.field)
      .map((tensor, number) => ({ line: number ? "backward" : "forward", text: words(tensor.short) }));
    if (arcs.length) arcs[arcs.length - 1].text += " (thicker: larger weight)";
    const shade = shadeOf(own), gates = own.some((tensor) => tensor.short.endsWith("gate"));
    const scales = shade ? [{ high: decoded(shade).high.toFixed(2), text: words(shade.short), alpha: SHADE }] : [];
    return [...arcs, ...scales, ...(gates ? [{ high: "1", text: "gates", alpha: SHADE }] : [])];
  }

  const scale = () => matrices().length
    ? [{ high: "its largest weight (at the right)", text: "row of a matrix, which attends to the columns", alpha: 1 }] : [];

  function drawKey(key) {
    const image = svg("svg", { width: 60, height: 12, "aria-hidden": "true" });
    image.append(...symbols(key, 0, 6));
    return element("span", {}, image, described(key));
  }

  const described = (key) => key.line ? key.text : `${key.text}: 0 to ${key.high}`;

  // A line as the arcs have it, or steps of a scale, 60 pixels wide.
  function symbols(key, x, y) {
    if (key.line)
      return [svg("path", { d: `M ${x} ${y} H ${x + 60}`, ...strokes(key.line), "stroke-width": 3 })];
    return Array.from({ length: 12 }, (_, step) => svg("rect", { x: x + 5 * step, y: y - 6, width: 5, height: 12,
      fill: `rgb(${colour("--weight")})`, "fill-opacity": (key.alpha * (step + 0.5) / 12).toFixed(3) }));
  }

  const strokes = (line) => ({ class: line, fill: "none", stroke: colour(`--${line}`),
    ...(line === "backward" ? { "stroke-dasharray": "5 3" } : {}) });

  function drawMatrices() {
    find("scale").replaceChildren(...scale().map(drawKey));
    find("matrices").replaceChildren(...matrices().map((tensor) => {
      const other = tensor.kind === "other" ? 1 - tensor.field : tensor.field;
      const heads = current().fields[tensor.field].tokens, dependents = current().fields[other].tokens;
      const name = `${words(tensor.name)}, ${featureName(tensor)}`;
      const canvas = element("canvas", { role: "img" });
      canvas.setAttribute("aria-label", `Matrix of ${name}: rows are the words that attend, columns the words attended to`);
      canvas.redraw = () => drawMatrix(canvas, tensor, heads, dependents);
      canvas.copy = (part) => copyMatrix(part, canvas, tensor, heads, dependents);
      const move = (event) => pointAt(event, canvas, tensor, heads, dependents);
      canvas.addEventListener("pointermove", move);
      canvas.addEventListener("click", move);
      canvas.redraw();
      return element("figure", {}, element("figcaption", { text: name }), canvas);
    }));
  }

  function layout(canvas, heads, dependents) {
    const room = narrow.matches ? find("matrices").clientWidth - 110 - NUMBERS : 460;
    const side = Math.max(9, Math.min(30, room / Math.max(heads.length, dependents.length)));
    const font = `${Math.min(13, side - 1)}px system-ui, sans-serif`;
    const pen = canvas.getContext("2d");
    pen.font = font;
    const widest = (tokens) => Math.min(120, Math.max(...tokens.map((token) => pen.measureText(shown(token)).width))) + 8;
    return { side, font, left: widest(heads), above: widest(dependents) };
  }

  // Cells and labels are drawn once into a picture of their own; the active row upon it.
  function drawMatrix(canvas, tensor, heads, dependents) {
    canvas.cells = canvas.cells || drawCells(canvas, tensor, heads, dependents);
    const pen = canvas.getContext("2d"), { side, left, above, font, ratio } = canvas.place;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(canvas.cells, 0, 0);
    if (tensor.field !== state.field) return;
    pen.scale(ratio, ratio);
    Object.assign(pen, { font, textBaseline: "middle", textAlign: "right", lineWidth: 2 });
    pen.clearRect(0, above + state.token * side, left - 2, side);
    pen.fillStyle = pen.strokeStyle = colour("--forward");
    pen.fillText(shown(heads[state.token]), left - 5, above + (state.token + 0.5) * side, left - 6);
    pen.strokeRect(left, above + state.token * side, side * dependents.length, side);
  }

  function drawCells(canvas, tensor, heads, dependents) {
    const ratio = devicePixelRatio || 1;
    const place = canvas.place = { ...layout(canvas, heads, dependents), ratio }, { side, left, above, font } = place;
    const width = left + side * dependents.length + NUMBERS, height = above + side * heads.length + 2;
    const cells = document.createElement("canvas");
    for (const each of [canvas, cells]) {
      each.width = Math.ceil(width * ratio);
      each.height = Math.ceil(height * ratio);
    }
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = cells.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = colour("--raised");
    pen.fillRect(left, above, side * dependents.length, side * heads.length);
    const rgb = colour("--weight"), rows = shares(tensor);
    for (const { row, column, share } of rows.cells) {
      pen.fillStyle = `rgba(${rgb}, ${share.toFixed(3)})`;
      pen.fillRect(left + column * side, above + row * side, side - 0.5, side - 0.5);
    }
    labelMatrix(pen, place, heads, dependents);
    Object.assign(pen, { font: small(font), fillStyle: colour("--quiet") });
    rows.high.forEach((high, row) => {
      if (high) pen.fillText(brief(high), left + side * dependents.length + 4, above + (row + 0.5) * side);
    });
    return cells;
  }

  function labelMatrix(pen, place, heads, dependents) {
    const { side, left, above, font } = place;
    Object.assign(pen, { font, textBaseline: "middle", fillStyle: colour("--text"), textAlign: "right" });
    heads.forEach((token, row) => pen.fillText(shown(token), left - 5, above + (row + 0.5) * side, left - 6));
    pen.textAlign = "left";
    dependents.forEach((token, column) => {
      pen.save();
      pen.translate(left + (column + 0.5) * side, above - 5);
      pen.rotate(-Math.PI / 2);
      pen.fillText(shown(token), 0, 0, above - 6);
      pen.restore();
    });
  }

  // The cells with a weight, as shares of the largest weight of their row, and these weights.
  function shares(tensor) {
    const { at } = decoded(tensor), [rows, columns] = tensor.shape, cells = [], high = [];
    for (let row = 0; row < rows; row++) {
      const weights = Array.from({ length: columns }, (_, column) => at(row * columns + column));
      high.push(Math.max(0, ...weights));
      weights.forEach((weight, column) => { if (weight) cells.push({ row, column, share: weight / high[row] }); });
    }
    return { cells, high };
  }

  function pointAt(event, canvas, tensor, heads, dependents) {
    const box = canvas.getBoundingClientRect(), { side, left, above } = canvas.place;
    const row = Math.floor((event.clientY - box.top - above) / side);
    const column = Math.floor((event.clientX - box.left - left) / side);
    if (row < 0 || row >= heads.length || column < 0 || column >= dependents.length) return;
    activateToken(tensor.field, row);
    const weight = decoded(tensor).at(row * dependents.length + column);
    find("readout").textContent = `${words(tensor.name)}: ${isolated(heads[row])} gives ` +
      `${isolated(dependents[column])} a weight of ${weight.toFixed(3)}`;
  }

  // What the page shows, as one image that needs no style sheet.
  function picture() {
    const image = svg("svg", { "font-family": "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif" });
    const backdrop = svg("rect", { width: "100%", height: "100%", fill: colour("--surface") });
    image.append(backdrop);
    let y = 24, width = find("stage").scrollWidth;
    for (const text of find("text").children) {
      write(image, 12, y, text.textContent, { "font-size": 17, "font-weight": 600 });
      width = Math.max(width, 9 * text.textContent.length);
      y += 26;
    }
    write(image, 12, y, `${current().prediction}; weights: ${find("shown").textContent}`, { fill: colour("--quiet") });
    y = copyKeys(image, keys(), y + 26);
    copyStage(image, y);
    y = copyKeys(image, scale(), y + find("stage").scrollHeight + 16);
    let x = 12, below = y;
    for (const figure of find("matrices").querySelectorAll("figure")) {
      const canvas = figure.querySelector("canvas"), caption = figure.querySelector("figcaption").textContent;
      const wide = Math.max(canvas.width / canvas.place.ratio, 7 * caption.length);
      if (x > 12 && x + wide > Math.max(width, 1100)) [x, y] = [12, below];
      write(image, x, y + 10, caption);
      const part = svg("g", { transform: `translate(${x} ${y + 26})` });
      canvas.copy(part);
      image.append(part);
      x += wide + 24;
      width = Math.max(width, x);
      below = Math.max(below, y + canvas.height / canvas.place.ratio + 44);
    }
    const size = [Math.ceil(width + 24), Math.ceil(below + 12)];
    for (const [name, value] of Object.entries({ width: size[0], height: size[1], viewBox: `0 0 ${size.join(" ")}` }))
      image.setAttribute(name, value);
    return image;
  }

  function write(image, x, y, text, attributes = {}) {
    const made = svg("text", { x, y, fill: colour("--text"), "font-size": 13, "dominant-baseline": "central", ...attributes });
    made.textContent = text.replace(CONTROLS, "\ufffd");
    image.append(made);
  }

  function copyKeys(image, keys, y) {
    keys.forEach((key, place) => {
      image.append(...symbols(key, 12, y + 20 * place));
      write(image, 82, y + 20 * place, described(key), { fill: colour("--quiet") });
    });
    return y + 20 * keys.length;
  }

  // The words, strips and arcs, where they stand.
  function copyStage(image, y) {
    const stage = find("stage"), frame = stage.getBoundingClientRect();
    const part = svg("g", { transform: `translate(12 ${y})` });
    for (const node of stage.querySelectorAll(".token, .cell, th")) {
      const box = node.getBoundingClientRect(), left = box.left - frame.left, top = box.top - frame.top;
      const isTitle = node.tagName === "TH", isUpright = node.classList.contains("upright");
      const x = isTitle && !isUpright ? left + box.width - 8 : left + box.width / 2, middle = top + box.height / 2;
      if (!isTitle)
        part.append(svg("rect", { x: left, y: top, width: box.width, height: box.height, rx: 4, stroke: edge(node),
          fill: `rgb(${colour("--weight")})`, "fill-opacity": node.dataset.alpha || 0 }));
      write(part, x, middle, cut(node.textContent), { "font-size": getComputedStyle(node).fontSize,
        fill: colour(isTitle ? "--quiet" : "--text"), "text-anchor": isTitle && !isUpright ? "end" : "middle",
        ...(isUpright ? { transform: `rotate(-90 ${x} ${middle})` } : {}) });
    }
    part.append(...[...find("arcs").children].map((path) => path.cloneNode()));
    image.append(part);
  }

  const cut = (text) => text.length > 24 ? `${text.slice(0, 23)}\u2026` : text;
  const edge = (node) => node.classList.contains("cell") ? "none"
    : colour(node.getAttribute("aria-pressed") === "true" ? "--forward" : "--line");

  // The matrix of a canvas, with its labels and numbers.
  function copyMatrix(part, canvas, tensor, heads, dependents) {
    const { side, left, above, font } = canvas.place, { cells, high } = shares(tensor), size = parseFloat(font);
    part.append(svg("rect", { x: left, y: above, width: side * dependents.length, height: side * heads.length,
      fill: colour("--raised") }));
    for (const { row, column, share } of cells)
      part.append(svg("rect", { x: left + column * side, y: above + row * side, width: side - 0.5, height: side - 0.5,
        fill: `rgb(${colour("--weight")})`, "fill-opacity": share.toFixed(3) }));
    heads.forEach((token, row) => {
      const y = above + (row + 0.5) * side;
      write(part, left - 5, y, cut(shown(token)), { "font-size": size, "text-anchor": "end" });
      if (high[row]) write(part, left + side * dependents.length + 4, y, brief(high[row]),
        { "font-size": Math.min(11, size), fill: colour("--quiet") });
    });
    dependents.forEach((token, column) => {
      const x = left + (column + 0.5) * side, y = above - 5;
      write(part, x, y, cut(shown(token)), { "font-size": size, transform: `rotate(-90 ${x} ${y})` });
    });
  }

  function save() {
    const text = new XMLSerializer().serializeToString(picture());
    const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    element("a", { href: address, download: `attention_${current().number}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  document.title = `Attention of ${data.title}`;
  find("title").textContent = document.title;
  find("about").textContent = data.about;
  find("find").addEventListener("input", drawList);
  find("lines").addEventListener("keydown", (event) => moveFocus(event, [...find("lines").querySelectorAll("button")],
    { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }));
  find("view").addEventListener("change", (event) => { state.view = Number(event.target.value); drawStage(); });
  find("feature").addEventListener("input", (event) => { state.feature = Number(event.target.value); drawStage(); });
  find("save").addEventListener("click", save);
  for (const query of [dark, narrow]) query.addEventListener("change", drawStage);
  addEventListener("resize", () => data.lines.length && drawArcs());
  drawList();
  if (data.lines.length) drawLine();
  else document.querySelector("main").hidden = true;  // no line fits; the header says so
  document.documentElement.dataset.ready = "true";
})();

