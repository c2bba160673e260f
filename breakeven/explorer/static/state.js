// What is shown, as the address's fragment has it (breakeven/explorer/state.py reads the same), and how it is drawn.
const DEFAULTS = { src: 0, dst: 0, cache: "warm", measure: "latency", least: 1, most: 2048 };
const VIEW = { y: "call", lx: "1", ly: "1", tab: "why", at: "", map: "", hide: "", zoom: "6", from: "0", find: "", all: "", open: "misaligned access,string instructions,moves" };
const data = await pageData();
let state = { ...DEFAULTS, machine: "u74", routines: [], settings: [], ...data.state };
const view = { ...VIEW, ...(data.view || {}) };

function fragment() {
  const words = new URLSearchParams();
  words.set("m", state.machine);
  words.set("r", state.routines.join(","));
  for (const text of state.settings) words.append("set", text);
  for (const [name, usual] of Object.entries(DEFAULTS)) if (String(state[name]) !== String(usual)) words.set(name, state[name]);
  for (const [name, usual] of Object.entries(VIEW)) if (String(view[name]) !== usual) words.set(name, view[name]);
  return words.toString().replaceAll("%2C", ",").replaceAll("%3D", "=").replaceAll("%2F", "/");
}

function readFragment(text) {
  const words = new URLSearchParams(text.replace(/^#/, ""));
  if (!words.has("m") && !words.has("r")) return false;
  state = { ...DEFAULTS, machine: words.get("m") || "u74", routines: (words.get("r") || "").split(",").filter(Boolean), settings: words.getAll("set") };
  for (const name of Object.keys(DEFAULTS)) {
    if (words.has(name)) state[name] = typeof DEFAULTS[name] === "number" ? Number(words.get(name)) : words.get(name);
  }
  for (const name of Object.keys(VIEW)) view[name] = words.has(name) ? words.get(name) : VIEW[name];
  return true;
}

const pathOf = (setting) => setting.slice(0, setting.indexOf("="));
const valueOf = (setting) => setting.slice(setting.indexOf("=") + 1);
const settingOf = (path) => { const found = state.settings.find((text) => pathOf(text) === path); return found === undefined ? null : valueOf(found); };

// null: as the machine's file has it.
function settingsWith(path, value) {
  const others = state.settings.filter((text) => pathOf(text) !== path);
  return value === null ? others : [...others, `${path}=${value}`];
}

function setParameter(path, value) { state.settings = settingsWith(path, value); }

const keepFragment = () => { if (data.live) history.replaceState(null, "", `#${fragment()}`); };
