// Where the cycles went at the size under the pointer.
function drawWhy(place) {
  const at = viewSize(), accounts = [], shownAccounts = make("div"), title = make("p", { class: "soft" });
  const say = (size) => { title.textContent = `One measurement of ${size} B, with the empty call around it. Each cycle is charged to what held up the next instruction.`; };
  say(at);
  place.replaceChildren(title, shownAccounts);
  // A snapshot has some sizes only.
  return ask("account", { size: at }, (line) => { say(line.size); accounts.push(line); shownAccounts.replaceChildren(accountView(accounts)); });
}
