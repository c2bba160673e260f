// Curves over a linear or a log axis, as SVG: drawn at the width of their place, so that texts keep their size.
function scale(least, most, log, low, high, round = false) {
  if (!log) least = Math.min(least, 0);
  if (!(most > least)) most = least + 1;
  const f = log ? Math.log2 : (value) => value;
  const at = (value) => low + ((f(value) - f(least)) / (f(most) - f(least))) * (high - low);
  const back = (pixel) => {
    const part = f(least) + ((pixel - low) / (high - low)) * (f(most) - f(least));
    return log ? 2 ** part : part;
  };
  const room = Math.max(2, Math.abs(high - low) / (round ? 48 : 36)), ticks = [];
  if (log && most / least >= 8) {
    const every = Math.max(1, Math.ceil((Math.log2(most) - Math.log2(least)) / room));
    for (let power = Math.ceil(Math.log2(least)); power <= Math.log2(most) + 1e-9; power += every) ticks.push(2 ** power);
  } else {
    const rough = (most - least) / room, unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough - 1e-12);
    for (let value = Math.ceil(least / step) * step; value <= most + step * 1e-9; value += step) {
      if (!log || value > 0) ticks.push(Number(value.toPrecision(12)));
    }
  }
  return { at, back, ticks };
}

function curvePath(points, x, y, stepped) {
  return points.map(([a, b], i) => `${i ? "L" : "M"}${x.at(a).toFixed(1)} ${y.at(b).toFixed(1)}`).join("");
}

// lines: [{name, i, points: [[x, y]], ghost, hidden}], bands: [{from, to, text, i}], view: {logX, logY, xlabel, ylabel, dots}.
// dots: [{x, y, i, text, hollow}], measured on hardware: diamonds, with a ring of paper so that they stand out.
function chart(width, height, lines, bands, view) {
  const right = 14, top = bands.length ? 26 : 12, bottom = 42;
  const usable = lines.map((line) => ({ ...line, points: line.points.filter(([a, b]) => (!view.logX || a > 0) && (!view.logY || b > 0)) }))
    .filter((line) => line.points.length);
  const dots = (view.dots || []).filter((dot) => (!view.logX || dot.x > 0) && (!view.logY || dot.y > 0));
  const every = [...usable.flatMap((line) => line.points), ...dots.map((dot) => [dot.x, dot.y])];
  if (!every.length) return { svg: make("svg", { width, height }), x: null, y: null };
  const span = (index) => every.reduce(([low, high], point) => [Math.min(low, point[index]), Math.max(high, point[index])], [Infinity, -Infinity]);
  const [lowX, highX] = span(0), [lowY, highY] = span(1);
  const y = scale(lowY, highY, view.logY, height - bottom, top);
  const left = 30 + 7 * Math.max(...y.ticks.map((tick) => shown(tick).length));
  const x = scale(lowX, highX, view.logX, left, width - right, true);
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": view.title, "font-size": 12, "font-family": "system-ui, sans-serif" },
    x.ticks.map((tick) => [
      make("line", { x1: x.at(tick), x2: x.at(tick), y1: top, y2: height - bottom, stroke: "var(--grid)" }),
      make("text", { x: x.at(tick), y: height - bottom + 16, "text-anchor": "middle", fill: "var(--soft)" }, size(tick))]),
    y.ticks.map((tick) => [
      make("line", { x1: left, x2: width - right, y1: y.at(tick), y2: y.at(tick), stroke: "var(--grid)" }),
      make("text", { x: left - 6, y: y.at(tick) + 4, "text-anchor": "end", fill: "var(--soft)" }, shown(tick))]),
    make("path", { d: `M${left} ${top}V${height - bottom}H${width - right}`, fill: "none", stroke: "var(--soft)" }),
    make("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle", fill: "var(--ink)" }, view.xlabel),
    make("text", { transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle", fill: "var(--ink)" }, view.ylabel));
  let free = -Infinity;
  for (const band of [...bands].sort((a, b) => a.to - b.to)) {
    if (band.to < lowX || band.from > highX || (view.logX && band.to <= 0)) continue;
    const a = x.at(Math.max(band.from, lowX)), b = x.at(band.to), middle = (a + b) / 2, half = band.text.length * 3.4;
    const label = Math.min(Math.max(middle, left + half), width - right - half);
    svg.append(make("rect", { x: a, y: top, width: Math.max(b - a, 1.5), height: height - bottom - top, fill: colour(band.i), opacity: 0.22, class: "mark", "data-from": band.from, "data-to": band.to }));
    if (label - half > free) {
      svg.append(make("text", { x: label, y: top - 8, "text-anchor": "middle", fill: colour(band.i), "font-weight": 600 }, band.text));
      free = label + half + 6;
    }
  }
  for (const line of usable) {
    const style = line.dots ? { fill: "none", stroke: "none" } : { fill: "none", stroke: colour(line.i), "stroke-width": line.ghost ? 1.2 : 2, "stroke-dasharray": dash(line.i), "stroke-linejoin": "round", opacity: line.ghost ? 0.45 : line.old ? 0.3 : 1 };
    svg.append(make("path", { d: curvePath(line.points, x, y), "data-name": line.name, class: line.ghost ? "ghost" : "curve", ...style }));
    if (line.dots || (!line.ghost && line.points.length <= 12)) {
      svg.append(...line.points.map(([a, b]) => make("circle", { cx: x.at(a), cy: y.at(b), r: 2.6, fill: line.dots ? "none" : colour(line.i), stroke: colour(line.i) })));
    }
  }
  svg.append(...dots.map((dot) => make("path", { class: "dot", "data-size": dot.x, d: `M${x.at(dot.x).toFixed(1)} ${(y.at(dot.y) - 6).toFixed(1)}l6 6l-6 6l-6 -6z`, fill: dot.hollow ? "var(--paper)" : colour(dot.i), stroke: dot.hollow ? colour(dot.i) : "var(--paper)", "stroke-width": 1.5 },
    make("title", {}, dot.text))));
  return { svg, x, y, top, bottom: height - bottom, left, right: width - right, lines: usable };
}

// Where nothing varies: a bar for each line's one value, in their order. lines: [{name, i, points: [[x, y]]}].
function barChart(width, lines, unit) {
  const row = 34, most = Math.max(...lines.map((line) => line.points[0][1])), room = width - 110;
  const svg = make("svg", { width, height: lines.length * row + 22, viewBox: `0 0 ${width} ${lines.length * row + 22}`, role: "img", "aria-label": lines.map((line) => `${line.name} ${shown(line.points[0][1])} ${unit}`).join(", "), "font-size": 12, "font-family": "system-ui, sans-serif" },
    lines.map((line, at) => make("g", { class: "bar", "data-name": line.name }, make("text", { x: 0, y: at * row + 12, fill: "var(--ink)" }, line.name),
      make("rect", { x: 0, y: at * row + 16, width: Math.max(1, (room * line.points[0][1]) / most), height: 12, fill: colour(line.i) }),
      make("text", { x: (room * line.points[0][1]) / most + 6, y: at * row + 26, fill: "var(--ink)", "font-weight": 600 }, shown(line.points[0][1])))),
    make("text", { x: 0, y: lines.length * row + 14, fill: "var(--soft)" }, unit));
  return { svg, x: null, y: null, lines };
}

// A chart as a file of its own: colours as numbers, a ground, the legend ([name, i]) and some lines of text below.
function pictureOf(chartSvg, legend, words) {
  const style = getComputedStyle(document.documentElement), svg = chartSvg.cloneNode(true), width = Number(svg.getAttribute("width")), height = Number(svg.getAttribute("height"));
  svg.querySelectorAll(".cursor").forEach((node) => node.remove());
  const all = height + 22 + legend.length * 17 + words.length * 16;
  svg.setAttribute("viewBox", `0 0 ${width} ${all}`);
  svg.setAttribute("height", all);
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.prepend(make("rect", { width, height: all, fill: "var(--paper)" }));
  legend.forEach(([name, i], row) => svg.append(make("line", { x1: 20, x2: 50, y1: height + 8 + row * 17, y2: height + 8 + row * 17, stroke: colour(i), "stroke-width": 3, "stroke-dasharray": dash(i) }), make("text", { x: 58, y: height + 12 + row * 17, fill: "var(--ink)" }, name)));
  words.forEach((text, row) => svg.append(make("text", { x: 20, y: height + 18 + legend.length * 17 + row * 16, fill: "var(--soft)", "font-size": 11 }, text)));
  return new XMLSerializer().serializeToString(svg).replace(/var\((--\w+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

// Its pixels, two a CSS pixel: a promise of a blob.
function pngOf(svgText) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onerror = () => reject(new Error("the browser cannot draw it"));
    image.onload = () => {
      const canvas = make("canvas", { width: image.width * 2, height: image.height * 2 }), pen = canvas.getContext("2d");
      pen.scale(2, 2);
      pen.drawImage(image, 0, 0);
      canvas.toBlob(resolve, "image/png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText)}`;
  });
}
