// Draws the page's figures and tables from the JSON in it. Text goes in as text nodes, never as HTML.
"use strict";
(() => {
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#999933"];
  // Rows of a table in the document at once; filters reach the others.
  const SHOWN_ROWS = 500;

  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "g", "line", "path", "text", "circle", "rect"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  const shown = (value) => (value === null || value === undefined ? "-" : typeof value === "number"
    ? String(Math.abs(value) >= 100 ? Math.round(value * 10) / 10 : Math.round(value * 1e4) / 1e4) : String(value));
  const order = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1
    : typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  const different = (values) => [...new Set(values)].sort(order);

  // "64" is equal to 64, "> 64" and "<= 64" compare, other texts are looked for.
  function matcher(text) {
    const compared = text.match(/^\s*(<=|>=|<|>|=)?\s*(-?\d+(?:\.\d+)?)\s*$/);
    if (compared) {
      const limit = Number(compared[2]);
      const test = { "<": (v) => v < limit, ">": (v) => v > limit, "<=": (v) => v <= limit, ">=": (v) => v >= limit }[compared[1]];
      return (value) => (typeof value === "number" ? (test ? test(value) : value === limit) : String(value).includes(text.trim()));
    }
    const wanted = text.trim().toLowerCase();
    return (value) => shown(value).toLowerCase().includes(wanted);
  }

  function table(columns, rows) {
    const state = { column: -1, down: false, filters: columns.map(() => "") };
    const body = make("tbody"), count = make("p", { class: "count" });
    const heads = columns.map((name, i) => make("th", { scope: "col", "aria-sort": "none" },
      make("button", { type: "button", title: "sort", onclick: () => {
        state.down = state.column === i && !state.down;
        state.column = i;
        draw();
      } }, name),
      make("input", { type: "search", placeholder: "filter", "aria-label": `filter ${name}`, title: "text, 64, >64, <=64",
        oninput: (event) => { state.filters[i] = event.target.value; draw(); } })));
    function draw() {
      const tests = state.filters.map((text, i) => [i, text]).filter(([, text]) => text.trim()).map(([i, text]) => [i, matcher(text)]);
      const kept = rows.filter((row) => tests.every(([i, test]) => test(row[i])));
      if (state.column >= 0) {
        const sign = state.down ? -1 : 1;
        kept.sort((a, b) => sign * order(a[state.column], b[state.column]));
      }
      heads.forEach((head, i) => head.setAttribute("aria-sort", i !== state.column ? "none" : state.down ? "descending" : "ascending"));
      body.replaceChildren(...kept.slice(0, SHOWN_ROWS).map((row) => make("tr", {},
        ...row.map((value) => make("td", typeof value === "number" ? { class: "number" } : {}, shown(value))))));
      count.textContent = `${kept.length} of ${rows.length} rows` + (kept.length > SHOWN_ROWS ? `, the first ${SHOWN_ROWS} shown` : "");
    }
    draw();
    return make("div", {}, make("div", { class: "rows" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body)), count);
  }

  function unpack(part) {
    const columns = part.columns.map((column) => (column.texts ? column.values.map((i) => column.texts[i]) : column.values));
    const index = Object.fromEntries(part.columns.map((column, i) => [column.name, i]));
    return { columns, index, rows: columns[0].map((_, i) => columns.map((column) => column[i])) };
  }

  function scale(values, log, low, high) {
    let [least, most] = [Infinity, -Infinity];
    for (const value of values) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
    if (!log) least = Math.min(least, 0);
    if (least === most) most = least + 1;
    const f = log ? Math.log2 : (v) => v;
    const at = (value) => low + ((f(value) - f(least)) / (f(most) - f(least))) * (high - low);
    const ticks = [];
    if (log) {
      const every = Math.max(1, Math.ceil((Math.log2(most) - Math.log2(least)) / 9));
      for (let power = Math.ceil(Math.log2(least)); power <= Math.log2(most); power += every) ticks.push(2 ** power);
    } else {
      const rough = (most - least) / 7, unit = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough);
      for (let value = Math.ceil(least / step) * step; value <= most; value += step) ticks.push(Number(value.toPrecision(12)));
    }
    return { at, ticks };
  }

  // Points of one figure: per routine, x -> median of y over equal x.
  function curves(data, x, y, coloured, chosen) {
    const byName = new Map();
    for (const row of data.rows) {
      if (Object.entries(chosen).some(([name, value]) => row[data.index[name]] !== value)) continue;
      const name = coloured.map((column) => shown(row[data.index[column]])).join(", ");
      const at = row[data.index[x]], value = row[data.index[y]];
      if (typeof at !== "number" || typeof value !== "number") continue;
      if (!byName.has(name)) byName.set(name, new Map());
      const points = byName.get(name);
      points.set(at, [...(points.get(at) || []), value]);
    }
    const middle = (values) => { values.sort((a, b) => a - b); const n = values.length; return (values[(n - 1) >> 1] + values[n >> 1]) / 2; };
    return [...byName].map(([name, points]) => [name, [...points].map(([at, values]) => [at, middle(values)]).sort((a, b) => a[0] - b[0])]);
  }

  function figure(part, data) {
    const axes = part.axes.filter((name) => name !== "routine");
    const numeric = axes.filter((name) => data.columns[data.index[name]].every((value) => typeof value === "number"));
    const several = numeric.filter((name) => new Set(data.columns[data.index[name]]).size > 1);
    if (!several.length) return null;
    const spread = (name) => new Set(data.columns[data.index[name]]).size;
    const state = { x: several.includes("size") && spread("size") >= 8 ? "size" : several.reduce((a, b) => (spread(b) > spread(a) ? b : a)),
      y: part.measured[0], also: "", logX: null, logY: null, chosen: {}, hidden: new Set() };
    const controls = make("div", { class: "controls" }), legend = make("div", { class: "legend" });
    const drawing = make("div", { class: "figure" });

    function select(label, options, value, change) {
      return make("label", {}, `${label} `, make("select", { "aria-label": label, onchange: (event) => { change(options[event.target.selectedIndex]); all(label); } },
        ...options.map((option) => make("option", option === value ? { selected: "" } : {}, option === "" ? "-" : shown(option)))));
    }
    function check(label, value, change) {
      const box = make("input", { type: "checkbox", "aria-label": label, onchange: (event) => { change(event.target.checked); draw(); } });
      box.checked = value;
      return make("label", {}, box, ` ${label}`);
    }
    // A grid need not hold every combination: the row that has what was just chosen and most of the rest.
    function nearest(fixed, changed) {
      const before = state.chosen, indices = fixed.map((name) => data.index[name]);
      let best = data.rows[0], most = -1;
      for (const row of data.rows) {
        if (changed && fixed.includes(changed) && row[data.index[changed]] !== before[changed]) continue;
        const same = fixed.reduce((sum, name, i) => sum + (row[indices[i]] === before[name]), 0);
        if (same > most) [best, most] = [row, same];
        if (most === fixed.length) break;
      }
      return Object.fromEntries(fixed.map((name, i) => [name, best[indices[i]]]));
    }
    function all(changed = "") {
      const others = axes.filter((name) => name !== state.x);
      if (!others.includes(state.also)) state.also = "";
      const fixed = others.filter((name) => name !== state.also);
      state.chosen = nearest(fixed, changed);
      const values = data.columns[data.index[state.x]];
      const most = values.reduce((a, b) => Math.max(a, b)), least = values.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), Infinity);
      const wide = most / least >= 256;
      if (state.logX === null) state.logX = wide;
      if (state.logY === null) state.logY = wide && state.x === "size";
      controls.replaceChildren(
        select("along", several, state.x, (value) => { state.x = value; state.logX = state.logY = null; }),
        select("shown", part.measured, state.y, (value) => { state.y = value; }),
        others.length ? select("a line for each", ["", ...others], state.also, (value) => { state.also = value; }) : "",
        ...fixed.map((name) => select(name, different(data.columns[data.index[name]]), state.chosen[name], (value) => { state.chosen[name] = value; })),
        check("log x", state.logX, (value) => { state.logX = value; }),
        check("log y", state.logY, (value) => { state.logY = value; }));
      draw();
    }
    function draw() {
      const lines = curves(data, state.x, state.y, ["routine", ...(state.also ? [state.also] : [])], state.chosen);
      const colour = (i) => COLOURS[i % COLOURS.length];
      const dash = (i) => ["", "6 3", "2 3", "8 3 2 3"][Math.floor(i / COLOURS.length) % 4];
      legend.replaceChildren(...lines.map(([name], i) => make("button", { type: "button", "aria-pressed": String(!state.hidden.has(name)),
        onclick: () => { state.hidden.has(name) ? state.hidden.delete(name) : state.hidden.add(name); draw(); } },
        make("i", { style: `background:${colour(i)}` }), name)));
      const visible = lines.map(([name, points], i) => ({ name, i, points: points.filter(([x, y]) => (!state.logX || x > 0) && (!state.logY || y > 0)) }))
        .filter((line) => !state.hidden.has(line.name) && line.points.length);
      if (!visible.length) { drawing.replaceChildren(make("p", { class: "count" }, "nothing to draw here")); return; }
      const [width, height, left, right, top, bottom] = [1000, 420, 70, 20, 12, 45];
      const every = visible.flatMap((line) => line.points);
      const x = scale(every.map((point) => point[0]), state.logX, left, width - right);
      const y = scale(every.map((point) => point[1]), state.logY, height - bottom, top);
      const cursor = make("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
      const dots = make("g"), tip = make("div", { class: "tip", hidden: "" });
      const unit = { cycles: "cycles a call", bytes_a_cycle: "bytes a cycle", size: "size (bytes)" };
      const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${state.y} along ${state.x}` },
        ...x.ticks.flatMap((tick) => [make("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: top, y2: height - bottom }),
          make("text", { x: x.at(tick), y: height - bottom + 17, "text-anchor": "middle" }, shown(tick))]),
        ...y.ticks.flatMap((tick) => [make("line", { class: "grid", x1: left, x2: width - right, y1: y.at(tick), y2: y.at(tick) }),
          make("text", { x: left - 6, y: y.at(tick) + 4, "text-anchor": "end" }, shown(tick))]),
        make("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
        make("line", { class: "axis", x1: left, x2: left, y1: top, y2: height - bottom }),
        make("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, unit[state.x] || state.x),
        make("text", { transform: `translate(14 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, unit[state.y] || state.y),
        ...visible.map((line) => make("path", { fill: "none", stroke: colour(line.i), "stroke-width": 1.6, "stroke-dasharray": dash(line.i), "data-name": line.name,
          d: line.points.map(([a, b], i) => `${i ? "L" : "M"}${x.at(a).toFixed(1)} ${y.at(b).toFixed(1)}`).join("") })),
        cursor, dots);
      const places = different(every.map((point) => point[0]));
      svg.addEventListener("mousemove", (event) => {
        const box = svg.getBoundingClientRect(), mouse = ((event.clientX - box.left) / box.width) * width;
        const at = places.reduce((best, place) => (Math.abs(x.at(place) - mouse) < Math.abs(x.at(best) - mouse) ? place : best));
        const here = visible.map((line) => [line, line.points.find((point) => point[0] === at)]).filter(([, point]) => point);
        cursor.setAttribute("x1", x.at(at));
        cursor.setAttribute("x2", x.at(at));
        cursor.setAttribute("visibility", "visible");
        dots.replaceChildren(...here.map(([line, point]) => make("circle", { cx: x.at(at), cy: y.at(point[1]), r: 3.5, fill: colour(line.i) })));
        const sorted = here.sort((a, b) => (state.y === "bytes_a_cycle" ? b[1][1] - a[1][1] : a[1][1] - b[1][1]));
        tip.replaceChildren(make("b", {}, `${state.x} ${shown(at)}`), ...sorted.map(([line, point]) => make("div", {}, `${line.name}: ${shown(point[1])}`)));
        tip.hidden = false;
        const place = (x.at(at) / width) * box.width;
        tip.style.left = place > box.width / 2 ? "" : `${place + 12}px`;
        tip.style.right = place > box.width / 2 ? `${box.width - place + 12}px` : "";
        tip.style.top = "20px";
      });
      svg.addEventListener("mouseleave", () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); dots.replaceChildren(); });
      drawing.replaceChildren(svg, tip);
    }
    all();
    return make("div", {}, controls, legend, drawing);
  }

  // Filled when it is opened: a study has dozens of tables.
  function folded(title, fill) {
    const details = make("details", { ontoggle: () => {
      if (details.open && details.childElementCount === 1) details.append(...fill().filter(Boolean));
    } }, make("summary", {}, title));
    return details;
  }

  function section(part, open) {
    const data = unpack(part);
    const constants = Object.entries(part.constants).map(([name, value]) => `${name} ${shown(value)}`).join(", ");
    const inside = () => [make("p", { class: "count" }, constants), part.note ? make("p", {}, part.note) : null, figure(part, data),
      part.leads ? folded("Where the lead changes, each condition", () => [table(part.leads.columns, part.leads.rows)]) : null,
      folded("Every point", () => [table(part.columns.map((column) => column.name), data.rows)])];
    const details = folded(part.about ? `${part.name}: ${part.about}` : part.name, inside);
    details.classList.add("part");
    details.open = open;
    return details;
  }

  function machine(item) {
    return folded(item.name, () => [make("p", {}, item.about + (item.hash ? `; hash ${item.hash}` : "")),
      item.marks ? make("p", { class: "count" }, `marks: ${item.marks}`) : null,
      ...(item.sections || []).map(([heading, lines]) => make("div", {}, make("b", {}, heading), make("pre", {}, lines.join("\n")))),
      item.parameters ? folded("Every parameter", () => [table(["path", "value"], item.parameters)]) : null]);
  }

  const data = JSON.parse(document.getElementById("data").textContent);
  document.getElementById("parts").append(...data.parts.map((part, i) => section(part, i === 0)));
  document.getElementById("machines").append(...data.machines.map((item) => machine(item)));
})();
