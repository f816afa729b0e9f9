// The inbox page: a list that refreshes itself, a search field and the open mail.
import { element, make, root, show, showEvents, timeOf } from "/_local/inbox/mail.js";

const pollMs = 2000;
let newest = 0;
let cursor = null;
let opened = 0;

async function ask(path, options) {
  const response = await fetch(path, { headers: { accept: "application/json" }, ...options });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer.data;
}

function pageOf(more) {
  const search = element("search").value.trim();
  return ask(`${root}?${new URLSearchParams({ limit: "50", search, ...more })}`);
}

async function showList() {
  const { mails, pagination } = await pageOf({});
  element("mails").replaceChildren(...mails.map(row));
  newest = Math.max(newest, mails[0]?.id ?? 0);
  more(pagination);
  count(pagination.total);
  mark();
}

async function showOlder() {
  const { mails, pagination } = await pageOf({ cursor });
  element("mails").append(...mails.map(row));
  more(pagination);
}

/** Adds new mails at the top and keeps the scroll position. */
async function poll() {
  if (!document.hidden) await refresh().catch(() => say("The sandbox does not answer"));
  setTimeout(poll, pollMs);
}

async function refresh() {
  const { mails } = await pageOf({ after: String(newest) });
  if (mails.length) {
    newest = mails[0].id;
    element("mails").prepend(...mails.map(row));
    say(mails.length === 1 ? `New mail: ${mails[0].subject}` : `${mails.length} new mails`);
  }
  if (mails.length === 50) return showList();
  if (mails.length && !element("search").value.trim())
    count((await pageOf({ limit: "1" })).pagination.total);
  mark();
  if (opened && !element("part-events").hidden) showEvents((await ask(`${root}/${opened}`)).events);
}

function more({ nextCursor }) {
  cursor = nextCursor;
  element("older").hidden = !cursor;
}

function count(total) {
  element("count").textContent =
    total === null ? "" : total === 1 ? "1 mail" : `${total.toLocaleString("en")} mails`;
}

function mark() {
  const empty = !element("mails").children.length;
  element("nothing").hidden = !empty;
  if (empty)
    element("nothing").textContent = element("search").value.trim()
      ? "No mail matches your search."
      : "No mail yet. Whatever is sent through the sandbox shows up here.";
  for (const link of element("mails").querySelectorAll("a")) {
    if (link.pathname === `${root}/${opened}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function say(text) {
  element("news").textContent = text;
}

function row(mail) {
  const time = make("time", "", timeOf(mail.at));
  time.dateTime = mail.at;
  const role = mail.copy ? mail.copy[0].toUpperCase() + mail.copy.slice(1) : "To";
  const link = make(
    "a",
    "",
    make("span", "first", make("span", "", `${role} ${mail.to.name ?? mail.to.email}`), time),
    make("span", "subject", mail.subject || "(no subject)"),
    make("span", "preview", mail.preview),
  );
  link.href = `${root}/${mail.id}`;
  return make("li", "", link);
}

async function open(id) {
  const mail = await ask(`${root}/${id}`).catch((error) => ({ missing: error.message }));
  opened = id;
  element("panes").classList.add("reading");
  element("none").hidden = !mail.missing;
  element("open").hidden = Boolean(mail.missing);
  if (mail.missing) element("none").textContent = mail.missing;
  else show(mail);
  mark();
}

function close() {
  opened = 0;
  document.title = "Inbox · Pennymail sandbox";
  element("panes").classList.remove("reading");
  element("open").hidden = true;
  element("none").hidden = false;
  element("none").textContent = "Choose a mail to read it.";
  mark();
}

function follow() {
  const id = Number(location.pathname.slice(root.length + 1));
  return id ? open(id) : close();
}

function visit(path) {
  history.pushState(null, "", path);
  return follow();
}

element("mails").addEventListener("click", async (event) => {
  const link = event.target.closest("a");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  await visit(link.pathname);
  element("mail").focus();
});
element("search-form").addEventListener("submit", (event) => event.preventDefault());
let typing = 0;
element("search").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(showList, 150);
});
element("older").addEventListener("click", showOlder);
element("back").addEventListener("click", () => visit(root));
element("empty").addEventListener("click", async () => {
  if (!confirm("Empty the inbox?")) return;
  await ask(root, { method: "DELETE" });
  await visit(root);
  await showList();
});
addEventListener("popstate", follow);
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input")) return;
  event.preventDefault();
  element("search").focus();
});

await showList();
await follow();
setTimeout(poll, pollMs);
