// Makes each figure.course-stepper of the page move: buttons, slider, arrow keys, a sentence that is read aloud.
// Valid as a module and as a plain script (the book opens from disk, where browsers load no modules), so it is one
// block without imports or exports. page.py takes out lines that begin with two slashes.
{
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const PACE = 1800;
const PLAY = "Show all steps, one after the other";
const STYLE = `
figure.course-stepper[data-live] { --ink: #1f1f1f; --page: #ffffff; --rim: #767676; --mark: #0b66a0;
  margin: 0.5rem 0; max-width: 640px; color: var(--ink); font-family: system-ui, "DejaVu Sans", Verdana, sans-serif; }
figure.course-stepper[data-dark] { --ink: #ececec; --page: #1b1b1b; --rim: #9a9a9a; --mark: #6fc3f0; }
.course-stepper .stage { overflow-x: auto; }
.course-stepper .stage svg { display: block; width: 100%; height: auto; }
.course-stepper .says { margin: 0.4rem 0; min-height: 2.8em; line-height: 1.4; font-size: 15px; color: inherit; }
.course-stepper .bar { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; }
.course-stepper .bar button { min-width: 40px; min-height: 36px; padding: 0 0.5rem; font: inherit; font-size: 15px;
  color: var(--ink); background: var(--page); border: 1px solid var(--rim); border-radius: 4px; cursor: pointer; }
.course-stepper .bar button:disabled { opacity: 0.45; cursor: default; }
.course-stepper .bar input { flex: 1 1 6rem; min-width: 6rem; min-height: 28px; accent-color: var(--mark); }
.course-stepper .bar :focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.course-stepper .bar .count { min-width: 4.2em; text-align: right; font-variant-numeric: tabular-nums; font-size: 15px; }
.course-stepper .bar .keys { flex-basis: 100%; font-size: 13px; }
@media (hover: none) { .course-stepper .bar .keys { display: none; } }
.course-stepper svg text { font-family: "DejaVu Sans", Verdana, system-ui, sans-serif; fill: var(--ink); }
.course-stepper svg g { --fill: none; --edge: var(--ink); transition: transform 0.35s ease-in-out; }
.course-stepper svg g.words text { fill: var(--edge); }
.course-stepper svg rect { fill: var(--fill); stroke: var(--edge); stroke-width: 1.2; }
.course-stepper svg path { fill: none; stroke: var(--edge); stroke-width: 1.4; }
.course-stepper svg .bold rect, .course-stepper svg .bold path { stroke-width: 2.6; }
.course-stepper svg .blue { --fill: #d6e9f5; --edge: #0072b2; } [data-dark] svg .blue { --fill: #12384f; --edge: #6fc3f0; }
.course-stepper svg .orange { --fill: #fbe3d3; --edge: #b34700; } [data-dark] svg .orange { --fill: #4d2a12; --edge: #ff9d5c; }
.course-stepper svg .green { --fill: #d3efe5; --edge: #00785a; } [data-dark] svg .green { --fill: #0f3d30; --edge: #45d0a4; }
.course-stepper svg .pink { --fill: #f5e0ec; --edge: #a8467f; } [data-dark] svg .pink { --fill: #45263a; --edge: #eda6cd; }
.course-stepper svg .amber { --fill: #fbeccb; --edge: #8a6000; } [data-dark] svg .amber { --fill: #453613; --edge: #f0c24b; }
.course-stepper svg .grey { --fill: #eeeeee; --edge: #6b6b6b; } [data-dark] svg .grey { --fill: #363636; --edge: #a8a8a8; }
.course-stepper svg .plain { --edge: #767676; } [data-dark] svg .plain { --edge: #969696; }
@media (prefers-reduced-motion: reduce) { .course-stepper svg g { transition: none; } }
@media print { .course-stepper .bar { display: none !important; } }
`.replaceAll("[data-dark] svg", ".course-stepper[data-dark] svg");

const styled = () => {
  if (document.getElementById("course-stepper-style")) return;
  const style = document.createElement("style");
  style.id = "course-stepper-style";
  style.textContent = STYLE;
  document.head.append(style);
};

const element = (name, attributes = {}, ...inside) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
};

const drawn = (parent, name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
};

// The way of a line or an arrow, from its own start; svg.py has the same formula.
const way = ({ x, y, x2, y2, b = 0, s }) => {
  const [ex, ey] = [x2 - x, y2 - y];
  if (s === "line") return `M0 0 L${ex} ${ey}`;
  const [mx, my] = [ex / 2, ey / 2 + 2 * b];
  const [dx, dy] = [ex - mx, ey - my];
  const long = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [7 * dx / long, 7 * dy / long];
  return `M0 0 Q${mx} ${my} ${ex} ${ey} M${ex - ux - uy / 2} ${ey - uy + ux / 2} L${ex} ${ey} L${ex - ux + uy / 2} ${ey - uy - ux / 2}`;
};

// A shape becomes a group at its place, so that a change of place can be a movement.
const fill = (group, shape) => {
  group.setAttribute("class", `${shape.s} ${shape.c}`);
  group.style.transform = `translate(${shape.x}px, ${shape.y}px)`;
  group.replaceChildren();
  const size = shape.z || 14;
  if (shape.s === "box") {
    drawn(group, "rect", { width: shape.w, height: shape.h, rx: 3 });
    const middle = { x: shape.w / 2, y: shape.h / 2 + 0.36 * size, "text-anchor": "middle", "font-size": size };
    if (shape.t) drawn(group, "text", middle, shape.t);
  } else if (shape.s === "words") {
    drawn(group, "text", { "text-anchor": shape.a || "middle", "font-size": size }, shape.t);
  } else {
    drawn(group, "path", { d: way(shape) });
  }
};

const draw = (svg, shapes) => {
  const old = new Map([...svg.children].map((group) => [group.dataset.key, group]));
  const keys = shapes.map(({ key }) => key);
  for (const [key, group] of old) if (!keys.includes(key)) group.remove();
  let next = svg.firstChild;
  for (const { key, shape, text } of shapes) {
    let group = old.get(key);
    if (!group) {
      group = document.createElementNS(SVG, "g");
      group.dataset.key = key;
    }
    if (group === next) next = next.nextSibling;
    else svg.insertBefore(group, next);
    if (group.dataset.text !== text) fill(group, shape);
    group.dataset.text = text;
  }
};

// Dark or light is what the page behind the figure is, whoever chose it: JupyterLab, the book, the system.
const isDark = (node) => {
  for (let at = node.parentElement; at; at = at.parentElement) {
    const [r, g, b, a = 1] = (getComputedStyle(at).backgroundColor.match(/[\d.]+/g) || []).map(Number);
    if (r !== undefined && a > 0.5) return 0.3 * r + 0.6 * g + 0.1 * b < 110;
  }
  return false;
};

const followTheme = (figure) => {
  const look = () => figure.toggleAttribute("data-dark", figure.isConnected && isDark(figure));
  const soon = () => [0, 100, 600].forEach((wait) => setTimeout(look, wait));
  const watch = { attributes: true, attributeFilter: ["data-theme", "data-jp-theme-light", "data-jp-theme-name", "class"] };
  new MutationObserver(soon).observe(document.body, watch);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", soon);
  look();
  soon();
};

const build = (data) => {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${data.size[0]} ${data.size[1]}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", data.title);
  const slider = element("input", { type: "range", min: 0, max: data.frames.length - 1, value: 0, "aria-label": "Step",
    title: "Drag to any step" });
  return {
    svg, slider,
    says: element("p", { class: "says", "aria-live": "polite" }),
    back: element("button", { type: "button", "aria-label": "Step back", title: "One step back (key ←)",
      "aria-keyshortcuts": "ArrowLeft" }, "◀"),
    play: element("button", { type: "button", "aria-label": "Play", title: PLAY }, "Play"),
    on: element("button", { type: "button", "aria-label": "Step on", title: "One step on (key →)",
      "aria-keyshortcuts": "ArrowRight" }, "▶"),
    count: element("span", { class: "count", "aria-hidden": "true" }),
    keys: element("span", { class: "keys" }, "Keys, once a button or the slider is selected: ← → one step, Home and End"),
  };
};

const start = (figure) => {
  const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  const shapes = data.shapes.map((shape, n) => ({ key: shape.k || `n${n}`, shape, text: `${n}` }));
  const parts = build(data);
  const last = data.frames.length - 1;
  let at = -1, timer = 0;

  const show = (number) => {
    at = Math.max(0, Math.min(last, number));
    const frame = data.frames[at];
    draw(parts.svg, frame.shows.map((n) => shapes[n]));
    const name = frame.name || `${at + 1} / ${last + 1}`;
    parts.says.textContent = frame.says;
    parts.count.textContent = name;
    parts.slider.value = at;
    parts.slider.setAttribute("aria-valuetext", frame.name || `${at + 1} of ${last + 1}`);
    figure.dataset.frame = at;
  };
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    parts.play.textContent = "Play";
    parts.play.title = PLAY;
    parts.play.setAttribute("aria-label", "Play");
    parts.says.setAttribute("aria-live", "polite");
  };
  const play = () => {
    if (at === last) show(0);
    parts.play.textContent = "Pause";
    parts.play.title = "Stay at this step";
    parts.play.setAttribute("aria-label", "Pause");
    parts.says.setAttribute("aria-live", "off");
    timer = setInterval(() => {
      if (!figure.isConnected || at + 1 >= last) pause();
      if (figure.isConnected) show(at + 1);
    }, PACE);
  };
  const go = (number) => { pause(); show(number); };

  const keys = { ArrowRight: () => at + 1, ArrowUp: () => at + 1, ArrowLeft: () => at - 1, ArrowDown: () => at - 1,
    Home: () => 0, End: () => last };
  parts.bar = element("div", { class: "bar", role: "group", "aria-label": `Steps: ${data.title}` },
    parts.back, parts.play, parts.on, parts.slider, parts.count, parts.keys);
  parts.bar.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(keys[event.key]());
  });
  parts.back.addEventListener("click", () => go(at - 1));
  parts.on.addEventListener("click", () => go(at + 1));
  parts.play.addEventListener("click", () => (timer ? pause() : play()));
  parts.slider.addEventListener("input", () => go(Number(parts.slider.value)));
  addEventListener("beforeprint", () => { if (figure.isConnected) go(data.telling); });

  figure.querySelector("img").replaceWith(element("div", { class: "stage" }, parts.svg), parts.says);
  // A single step is a picture: nothing to walk through
  if (last) parts.says.after(parts.bar);
  figure.querySelector("summary").textContent = last ? `${last + 1} steps in words` : "The picture in words";
  figure.dataset.live = "";
  followTheme(figure);
  show(0);
};

styled();
for (const figure of document.querySelectorAll("figure.course-stepper:not([data-live])")) start(figure);
}
