// Shows the open mail of the inbox page.
export const element = (id) => document.getElementById(id);
export const root = "/_local/inbox";

export function show(mail) {
  element("subject").textContent = mail.subject || "(no subject)";
  document.title = `${mail.subject} · Pennymail sandbox`;
  const facts = {
    From: named(mail.from),
    To: list(mail.shown.to),
    Cc: list(mail.shown.cc),
    [mail.copy === "bcc" ? "Bcc" : "Copy for"]: mail.copy ? named(mail.to) : "",
    Date: new Date(mail.at).toLocaleString(),
    Via: `${mail.provider}, account ${mail.account}`,
  };
  const known = Object.entries(facts).filter(([, value]) => value);
  element("facts").replaceChildren(
    ...known.flatMap(([name, value]) => [make("dt", "", name), make("dd", "", value)]),
  );
  const gone = mail.forgotten ? "This mail is too old: its content is no longer kept." : undefined;
  element("part-html").replaceChildren(
    mail.html ? frame(mail) : note(gone ?? "This mail has no HTML part."),
  );
  element("part-text").replaceChildren(
    mail.text ? make("pre", "", mail.text) : note(gone ?? "This mail has no text part."),
  );
  element("part-headers").replaceChildren(table(["Header", "Value"], headers(mail)));
  element("part-attachments").replaceChildren(
    mail.attachments.length ? files(mail) : note(gone ?? "No files are attached."),
  );
  element("tab-attachments").textContent = mail.attachments.length
    ? `Files (${mail.attachments.length})`
    : "Files";
  showEvents(mail.events);
  choose(mail.html ? "html" : "text");
}

const note = (text) => make("p", "nothing", text);

function frame(mail) {
  const made = document.createElement("iframe");
  made.title = "The mail as its reader sees it";
  made.setAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
  made.src = `${root}/${mail.id}/html`;
  return made;
}

function headers(mail) {
  const own = {
    From: named(mail.from),
    To: list(mail.shown.to),
    Cc: list(mail.shown.cc),
    Bcc: mail.copy === "bcc" ? named(mail.to) : undefined,
    "Reply-To": mail.replyTo,
    Subject: mail.subject,
    "Message-ID": mail.messageId,
  };
  const all = {
    ...own,
    ...mail.headers,
    "(tags)": mail.tags.join(", "),
    "(metadata)": Object.keys(mail.metadata).length ? JSON.stringify(mail.metadata) : "",
  };
  return Object.entries(all).filter(([, value]) => value);
}

function files(mail) {
  const rows = mail.attachments.map(({ filename, type, size, url }) => {
    const link = make("a", "", filename);
    link.href = url;
    link.download = filename;
    return [link, type, `${size.toLocaleString("en")} bytes`];
  });
  return table(["File", "Type", "Size"], rows);
}

export function showEvents(list) {
  const none = note(
    "No webhook was posted for this mail. " +
      "Create a sending config with this account's credentials to receive its events.",
  );
  const rows = list.map(({ kind, at, status }) => [
    kind,
    timeOf(at, { second: "2-digit" }),
    make("span", status >= 200 && status < 300 ? "good" : "bad", answered(status)),
  ]);
  element("part-events").replaceChildren(
    list.length ? table(["Event", "Time", "Webhook"], rows) : none,
  );
}

const answered = (status) => (status ? `answered ${status}` : "no answer yet");

function table(titles, rows) {
  const head = titles.map((title) => {
    const cell = make("th", "", title);
    cell.scope = "col";
    return cell;
  });
  const body = rows.map((cells) => make("tr", "", ...cells.map((cell) => make("td", "", cell))));
  return make("table", "", make("thead", "", make("tr", "", ...head)), make("tbody", "", ...body));
}

const tabs = [...element("tabs").children];

function choose(name) {
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    element(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
}

/** `make("p", "class", "text" or nodes...)`: text never becomes markup. */
export function make(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

/** Omits the date of today. The clock of the service can be weeks ahead. */
export function timeOf(iso, more = {}) {
  const at = new Date(iso);
  const today = new Date();
  const day = at.toDateString() !== today.toDateString() && { day: "numeric", month: "short" };
  const year = at.getFullYear() !== today.getFullYear() && { year: "numeric" };
  return at.toLocaleString([], { ...year, ...day, hour: "2-digit", minute: "2-digit", ...more });
}

const list = (mailboxes) => mailboxes.map(named).join(", ");
const named = ({ name, email }) => (name ? `${name} <${email}>` : email);

element("tabs").addEventListener("click", ({ target }) => choose(target.id.slice("tab-".length)));
element("tabs").addEventListener("keydown", ({ key }) => {
  const at = tabs.indexOf(document.activeElement);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[key];
  if (next === undefined) return;
  const tab = tabs.at(next % tabs.length);
  choose(tab.id.slice("tab-".length));
  tab.focus();
});

// Makes a panel without controls reachable by keyboard.
for (const panel of document.querySelectorAll('[role="tabpanel"]')) panel.tabIndex = 0;
