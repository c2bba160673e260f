// The same without this page: a link, a snapshot, pictures, numbers, commands.
const pageText = document.documentElement.outerHTML;

const fileName = (ending) => `${[state.machine.replace(/[^\w.-]/g, "_"), ...state.routines].join("-")}${ending}`;

// As `pageData` reads it.
async function compressed(text) {
  const packed = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
  return btoa(packed.reduce((all, byte) => all + String.fromCharCode(byte), ""));
}

// The page with what the server has simulated for it: needs no server, and has no token. A map is the one that is shown.
async function snapshotText(kept) {
  const { token, live, ...rest } = data;
  const content = await compressed(JSON.stringify({ ...rest, live: false, state, view: { ...view }, saved: { ...kept, ...(saved.map && saved.map.length ? { map: saved.map } : {}) }, ranked: machine.ranked ? [...machine.ranked] : null, made: new Date().toISOString().slice(0, 10) }));
  const opening = '<script type="application/json" id="data">', start = pageText.indexOf(opening), end = pageText.indexOf("<\/script>", start);
  return `<!DOCTYPE html>\n${pageText.slice(0, start)}<script type="application/octet-stream" id="data">${content}${pageText.slice(end)}`.replace("; connect-src 'self'", "");
}

async function snapshot(press) {
  press.disabled = true;
  press.textContent = "simulating ...";
  const asking = JSON.stringify(state);
  await ask("snapshot", {}, async (line) => {
    const text = await snapshotText(line.saved);
    if (asking === JSON.stringify(state)) download(fileName(".html"), "text/html", text);
  });
  press.textContent = "snapshot";
  press.disabled = false;
}

function svgText() {
  const words = [`${state.machine}${state.settings.map((text) => ` ${text}`).join("")}, src+${state.src}, dst+${state.dst}, ${state.cache}, ${state.measure}`, ...(known.verdict ? known.verdict.sentences : [])];
  return pictureOf(drawn.svg, state.routines.map((name, i) => [name, i]).filter(([name]) => !isHidden(name)), words);
}

function csvText() {
  const head = ["size", ...known.routines.flatMap((name) => [`${name} cycles`, `${name} least`, `${name} instructions`])];
  const rows = [...known.points].sort((a, b) => a[0] - b[0]).map(([at, cells]) => [at, ...cells.flatMap((cell) => [cell[1], cell[0], cell[2]])]);
  return [head, ...rows].map((cells) => cells.join(",")).join("\n") + "\n";
}

function shareTools() {
  return [
    data.live ? button("link", (event) => copied(event.target, `${location.origin}/#${fragment()}`.replace(location.origin + "/", "")), { title: "copies the state: `breakeven explore '#...'` opens it on any machine" }) : null,
    data.live ? button("snapshot", (event) => snapshot(event.target), { title: "this page as one file that needs no server" }) : null,
    button("SVG", () => download(fileName(".svg"), "image/svg+xml", svgText())),
    button("PNG", () => pngOf(svgText()).then((blob) => download(fileName(".png"), "image/png", blob), (error) => trouble(error.message))),
    button("CSV", () => download(fileName(".csv"), "text/csv", csvText())),
  ];
}

const LABELS = { command: "The same on the command line", machine_file: "my_cpu.py, this machine as a file", gem5: "As a gem5 script (one guest runs all points in turn: predictors keep what they learnt)" };

function drawAgain() {
  const asking = JSON.stringify(state);
  return ask("commands", { sizes: [...known.points.keys()].sort((a, b) => a - b) }, (line) => {
    // An answer about what was shown before is no command for what is shown now.
    if (asking !== JSON.stringify(state)) return;
    delete byId("again").dataset.stale;
    byId("again").replaceChildren(...Object.entries(LABELS).map(([key, label]) => {
      const copy = button("copy", () => copied(copy, line[key]), { class: "quiet" });
      return make("details", { open: key === "command" }, make("summary", {}, label), make("div", { class: "command" }, make("pre", { "data-kind": key, tabindex: 0 }, line[key]), copy));
    }));
  });
}
