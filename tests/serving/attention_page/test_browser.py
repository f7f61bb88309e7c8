"""The attention page in a browser: what a reader sees, hovers over and reaches by keyboard."""

from xml.etree import ElementTree

import numpy as np
import pytest

from disan_tf.serving.attention_page import page as page_module
from disan_tf.serving.attention_page.page import write_page
from tests.support.models.attention_files import disan, drcn, resan, write_pair, write_sentence

TOKENS = ["the", "plot", "is", "superb", "."]
SVG = "{http://www.w3.org/2000/svg}"
SCRIPT = ["<script>document.title='broken'</script>", "&amp;", "<b>"]


def _all(browser, selector):
    return browser.find_elements("css selector", selector)


def _one(browser, selector):
    return browser.find_element("css selector", selector)


def _arcs(browser):
    """(class, path) of what is drawn between words."""
    return [
        (arc.get_attribute("class"), arc.get_attribute("d")) for arc in _all(browser, "#arcs path")
    ]


def _choose(browser, number):
    _all(browser, "#lines button")[number].click()


def _press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def _point_at(browser, node):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).move_to_element(node).perform()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a folder; afterwards nothing may have been complained about."""

    def opened(name="demo"):
        write_page(tmp_path, name)
        browser.get((tmp_path / "index.html").as_uri())
        assert _one(browser, "html").get_attribute("data-ready") == "true"
        return browser

    yield opened
    assert browser.get_log("browser") == []


@pytest.fixture
def page(opened, tmp_path):
    """Four sentences of DiSAN."""
    for number, tokens in enumerate([TOKENS, SCRIPT, ["a"], [""]], start=1):
        write_sentence(tmp_path, number, tokens, disan(tokens))
    return opened()


def test_sentences_have_their_labels_and_probabilities(page):
    entries = [button.text.splitlines() for button in _all(page, "#lines button")]
    assert entries[0] == ["the plot is superb .", "1: positive"]
    assert entries[3] == ["(empty line)", "4: positive"]
    assert "75.0 %" in _one(page, "#prediction").text and page.title == "Attention of demo"


def test_the_gold_label_of_a_wrong_prediction_stands_among_the_likeliest_classes(opened, tmp_path):
    shares = {f"class {rank}": 0.5**rank for rank in range(1, 25)}
    record = {"label": "class 1", "gold_label": "class 24", "probabilities": shares}
    write_sentence(tmp_path, 1, TOKENS, disan(TOKENS), **record)
    seen = opened().execute_script(
        """const frame = document.querySelector('#prediction').getBoundingClientRect();
        return [...document.querySelectorAll('#prediction > span')].filter((cell) => {
          const { left, width, top, bottom } = cell.getBoundingClientRect();
          return top >= frame.top && bottom <= frame.bottom + 1
            && document.elementFromPoint(left + width / 2, (top + bottom) / 2) === cell;
        }).map((cell) => cell.textContent);"""
    )
    assert seen[:3] == ["class 1", "", "50.0 %"] and seen[-3:] == ["class 24 (gold)", "", "0.0 %"]


def test_pointing_at_a_word_draws_what_it_attends_to(page):
    words = _all(page, ".token")
    seen = []
    for place in (0, 2, 4):
        _point_at(page, words[place])
        arcs = _arcs(page)
        kinds = [kind for kind, _ in arcs]
        assert kinds.count("forward") == place and kinds.count("backward") == 4 - place
        assert words[place].get_attribute("aria-pressed") == "true"
        seen.append(arcs)
    assert seen[0] != seen[1] != seen[2]
    assert _one(page, "#readout").text.startswith("\u2068.\u2069 attends to — forward attention: ")


def test_text_is_shown_as_text(page):
    _choose(page, 1)
    assert _one(page, "#text").text == " ".join(SCRIPT)
    assert [word.text for word in _all(page, ".token")] == SCRIPT
    assert page.title == "Attention of demo" and not _all(page, "main b")


def test_everything_is_reached_by_keyboard(page):
    _press(page, "\ue004")  # Tab: the field that finds sentences
    assert page.switch_to.active_element.get_attribute("id") == "find"
    _press(page, "\ue004", "\ue015", "\ue007")  # the list; down; Enter
    assert _one(page, "#text").text == " ".join(SCRIPT)
    _press(page, "\ue004", "\ue014")  # the features; right
    assert _one(page, "#shown").text.startswith("single feature")
    _press(page, "\ue004")  # the button
    assert page.switch_to.active_element.text == "Save as SVG"
    _press(page, "\ue004", "\ue014", "\ue014")  # the words; right, right
    assert page.switch_to.active_element.text == SCRIPT[2]
    assert [kind for kind, _ in _arcs(page)] == ["forward", "forward"]
    _press(page, "\ue011")  # Home
    assert page.switch_to.active_element.text == SCRIPT[0]


def test_a_single_feature_has_its_own_weights(page):
    def weights():
        return [cell.text for cell in _all(page, ".cell")]

    before, name = weights(), _all(page, "th")[-1].text
    assert name == "source2token, mean"
    page.execute_script(
        "const slider = arguments[0]; slider.value = 3; slider.dispatchEvent(new Event('input'))",
        _one(page, "#feature"),
    )
    assert weights() != before and "feature 2" in _one(page, "figcaption").text


def test_the_search_leaves_what_it_finds(page):
    _one(page, "#find").send_keys("SUPERB")
    assert [button.text.splitlines()[0] for button in _all(page, "#lines button")] == [
        "the plot is superb ."
    ]


def test_pointing_at_the_matrix_names_both_words(page):
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = _one(page, "canvas")
    width, height = canvas.size["width"], canvas.size["height"]
    page.execute_script("arguments[0].scrollIntoView()", canvas)
    ActionChains(page).move_to_element_with_offset(
        canvas, 10 - width // 2 + (width - 150), height // 2 - 8
    ).perform()
    assert "gives" in _one(page, "#readout").text and "a weight of" in _one(page, "#readout").text


def _opacities(page, shape):
    """The opacities of the first matrix' cells, from its pixels and the colours of the page."""
    shares = page.execute_script(
        """const [rows, columns] = arguments, canvas = document.querySelector('canvas');
        const { side, left, above, ratio } = canvas.place, copy = document.createElement('canvas');
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const pen = copy.getContext('2d', { willReadFrequently: true });
        pen.drawImage(canvas, 0, 0);
        const red = (x, y) => pen.getImageData(x * ratio, y * ratio, 1, 1).data[0];
        const style = getComputedStyle(document.documentElement);
        const full = Number(style.getPropertyValue('--weight').split(',')[0]);
        const none = parseInt(style.getPropertyValue('--raised').trim().slice(1, 3), 16);
        return Array.from({ length: rows * columns }, (_, k) => {
          const row = Math.floor(k / columns), column = k % columns;
          const share = red(left + (column + 0.3) * side, above + (row + 0.3) * side) - none;
          return share / (full - none);
        });""",
        *shape,
    )
    return np.reshape(shares, shape)


@pytest.mark.parametrize("is_pair", [False, True])
def test_each_row_of_a_matrix_spans_the_scale_up_to_its_largest_weight(is_pair, opened, tmp_path):
    pair = (TOKENS, TOKENS[:2])
    if is_pair:
        write_pair(tmp_path, 1, pair, drcn(*pair))
        means = drcn(*pair)[0]["bilinear_1"].mean(axis=-1)
    else:
        write_sentence(tmp_path, 1, TOKENS, disan(TOKENS))
        means = disan(TOKENS)["forward_attention"].mean(axis=-1)
    expected = means / np.maximum(means.max(axis=1, keepdims=True), 1e-9)
    opacities = _opacities(opened(), means.shape)
    np.testing.assert_allclose(opacities, expected, rtol=0, atol=0.02)


def test_a_key_names_the_lines_and_the_scales(page):
    keys = [key.text for key in _all(page, ".key span")]
    high = disan(TOKENS)["source2token"].mean(axis=-1).max()
    assert keys == [
        "forward attention",
        "backward attention (thicker: larger weight)",
        f"source2token: 0 to {high:.2f}",
        "gates: 0 to 1",
        "row of a matrix, which attends to the columns: 0 to its largest weight (at the right)",
    ]


@pytest.mark.parametrize("line", [0, 1])
def test_save_as_svg_writes_what_the_page_shows(page, line, tmp_path):
    from selenium.webdriver.support.wait import WebDriverWait

    page.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    _choose(page, line)
    _point_at(page, _all(page, ".token")[2])
    _one(page, "#save").click()
    path = tmp_path / f"attention_{line + 1}.svg"
    WebDriverWait(page, 20).until(lambda _: path.exists() and path.stat().st_size)
    root = ElementTree.parse(path).getroot()
    texts = [text.text for text in root.iter(f"{SVG}text")]
    tokens = (TOKENS, SCRIPT)[line]
    assert texts[0] == " ".join(tokens)
    for token in tokens:  # the words, and the rows and columns of two matrices
        cut = token if len(token) <= 24 else f"{token[:23]}\u2026"
        assert texts.count(cut) >= 5
    assert {"forward attention, mean", "backward attention, mean", "gates: 0 to 1"} <= {*texts}
    arcs = [path.get("d") for path in root.iter(f"{SVG}path") if path.get("d").count("C")]
    assert arcs == [d for _, d in _arcs(page)]
    shares = [float(rect.get("fill-opacity", "nan")) for rect in root.iter(f"{SVG}rect")]
    assert shares.count(1.0) == 2 * (len(tokens) - 1)  # the largest of each row with weights


def test_selections_of_hard_attention_are_marked(opened, tmp_path):
    write_sentence(tmp_path, 1, TOKENS, resan(TOKENS))
    page = opened()
    rows = {row.find_element("css selector", "th").text: row for row in _all(page, "tr:not(.gap)")}
    marks = [cell.text for cell in rows["selected heads, mean"].find_elements("css selector", "td")]
    assert marks == ["✓", "", "✓", "", "✓"]


def test_words_of_a_pair_read_those_of_the_other_by_function_and_layer(opened, tmp_path):
    pair = (TOKENS, TOKENS[:2])
    write_pair(tmp_path, 1, pair, drcn(*pair))
    page = opened()
    options = [option.text for option in _all(page, "#view option")]
    assert len(options) == 10 and options[:2] == ["bilinear 1", "cosine 1"]
    _point_at(page, _all(page, ".token")[0])
    before = _one(page, "#readout").text
    assert len(_arcs(page)) == 2 and "bilinear 1: " in before
    _all(page, "#view option")[3].click()
    assert "cosine 2: " in _one(page, "#readout").text
    assert len(_all(page, "canvas")) == 2


@pytest.fixture
def phone(browser):
    """A screen 400 pixels wide, as `opened` then uses it."""
    size = {"width": 400, "height": 850, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def _overflow(page, selector):
    """By how many pixels the content of a node is wider than the node."""
    return page.execute_script(
        "const n = arguments[0]; return n.scrollWidth - n.clientWidth", _one(page, selector)
    )


def _reach(page):
    """Ends of the arcs on the left and right, relative to the frame around them."""
    return page.execute_script(
        """const box = (node) => node.getBoundingClientRect();
        const frame = box(document.querySelector('.scroller'));
        const boxes = [...document.querySelectorAll('#arcs path')].map(box);
        return [Math.min(...boxes.map((box) => box.left - frame.left)),
                Math.min(...boxes.map((box) => frame.right - box.right))]"""
    )


def test_a_phone_opens_on_the_sentence_and_its_arcs_fit(phone, opened, tmp_path):
    tokens = [f"word{place}" for place in range(25)]
    write_sentence(tmp_path, 1, tokens, resan(tokens))
    page = opened()
    assert _one(page, "#text").location["y"] < 200 < _one(page, "nav").location["y"]
    word = _all(page, ".token")[12]
    page.execute_script("arguments[0].scrollIntoView({ block: 'center' })", word)
    word.click()
    assert len(_arcs(page)) >= 3
    assert _overflow(page, "html") == 0 and _overflow(page, ".scroller") == 0
    assert min(_reach(page)) >= 0
    columns = {word.location["x"] for word in _all(page, ".token")}
    assert len(columns) == 1  # the words stand below each other


def test_a_page_on_which_no_line_fits_says_so(opened, tmp_path, monkeypatch):
    write_sentence(tmp_path, 1, TOKENS, disan(TOKENS))
    monkeypatch.setattr(page_module, "MAX_LINES", 0)
    browser = opened()
    assert "0 of 1 line" in _one(browser, "body").text
    assert not _one(browser, "main").is_displayed()
