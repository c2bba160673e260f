// Where the cycles went at the size under the pointer.
function drawWhy(place) {
  const at = viewSize(), accounts = [], shownAccounts = make("div"), title = make("p", { class: "soft" });
  // Twice the worker's calls (simulate.py): a throughput is what the second half of them takes.
  const calls = state.measure === "throughput" ? "32 calls in a row; the curve shows the cycles of one of the last 16" : "with the empty call around it";
  const say = (size) => { title.textContent = `One measurement of ${size} B, ${calls}. Each cycle is charged to what held up the next instruction.`; };
  say(at);
  place.replaceChildren(title, shownAccounts);
  // A snapshot has some sizes only.
  return ask("account", { size: at }, (line) => { say(line.size); accounts.push(line); shownAccounts.replaceChildren(accountView(accounts)); });
}
