// Elements, texts, colours. Text goes in as text nodes, never as HTML.
const SVG_TAGS = new Set(["svg", "g", "line", "path", "text", "circle", "rect", "title", "defs", "pattern", "clipPath"]);

function make(tag, attributes = {}, ...children) {
  const node = SVG_TAGS.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const byId = (id) => document.getElementById(id);

// The page's data: JSON, or JSON compressed (document.py).
async function pageData() {
  const place = byId("data");
  if (place.type === "application/json") return JSON.parse(place.textContent);
  if (!window.DecompressionStream) {
    document.body.prepend(make("p", { role: "alert" }, "This page needs a browser of 2023 or later."));
    throw new Error("no DecompressionStream");
  }
  const packed = Uint8Array.from(atob(place.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

// A number as a person reads it.
const shown = (value) => (value === null || value === undefined ? "-" : typeof value === "number"
  ? String(Math.abs(value) >= 100 ? Math.round(value * 10) / 10 : Math.round(value * 1e4) / 1e4) : String(value));
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function bytes(value) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (value >= size) return `${shown(value / size)} ${unit}`;
  }
  return `${shown(value)} B`;
}

// Sizes at an axis: 64, 1K, 64K.
function size(value) {
  if (value >= 2 ** 20 && value % 2 ** 20 === 0) return `${value / 2 ** 20}M`;
  return value >= 1024 && value % 1024 === 0 ? `${value / 1024}K` : shown(value);
}

// Okabe and Ito's colours, of which each theme has its own shades (page.css); dashes tell them apart in print.
const colour = (i) => `var(--c${i % 8})`;
const dash = (i) => ["", "7 3", "2 3", "9 3 2 3", "5 5", "1 4", "12 4", "4 2 1 2"][i % 8];

function select(label, options, value, change, more = {}) {
  const list = make("select", { "aria-label": label, onchange: (event) => change(event.target.value), ...more },
    options.map(([text, key, about]) => make("option", { value: key, selected: key === value, title: about }, text)));
  return make("label", { class: "field" }, make("span", {}, label), list);
}

function button(text, press, more = {}) {
  return make("button", { type: "button", onclick: press, ...more }, text);
}

function copied(node, text) {
  const before = node.textContent;
  const done = (words) => { node.textContent = words; setTimeout(() => { node.textContent = before; }, 1200); };
  (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject()).then(() => done("copied"), () => {
    const area = make("textarea", { class: "offscreen" });
    area.value = text;
    document.body.append(area);
    area.select();
    done(document.execCommand("copy") ? "copied" : "not copied");
    area.remove();
  });
}

function download(name, type, content) {
  const link = make("a", { href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  setTimeout(() => { URL.revokeObjectURL(link.href); link.remove(); }, 2000);
}

// What is folded on the screen and open on paper; a part that is filled when it is opened hears of it ("print").
function openOnPaper(selector) {
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll(selector)) {
      if (each.open) continue;
      opened.push(each);
      each.open = true;
      each.dispatchEvent(new Event("print"));
    }
  });
  addEventListener("afterprint", () => { for (const each of opened.splice(0)) each.open = false; });
}
