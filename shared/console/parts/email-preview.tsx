import { SegmentedControl } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "../language/translate.ts";

interface EmailPreviewProps {
  html: string;
  title: string;
  /** The plain text part. With it, the reader can switch to it. */
  text?: string | undefined;
  /** What is drawn beside a link, such as how many clicked it. */
  noteOf?(href: string): string | undefined;
}

const widths = [
  { value: "desktop", label: t("Desktop") },
  { value: "phone", label: t("Phone") },
];

/**
 * An email in a frame with a policy of its own, because that of the console forbids the styles of
 * emails. The sandbox runs no scripts and follows no links.
 */
export function EmailPreview({ html, title, text, noteOf }: EmailPreviewProps) {
  const [view, setView] = useState("desktop");
  const [scheme, setScheme] = useState("light");
  return (
    <div className="email-preview">
      <div className="buttons">
        <SegmentedControl
          aria-label={t("View")}
          size="xs"
          value={view}
          onChange={setView}
          data={text === undefined ? widths : [...widths, { value: "text", label: t("Text") }]}
        />
        {view !== "text" && (
          <SegmentedControl
            aria-label={t("Color scheme")}
            size="xs"
            value={scheme}
            onChange={setScheme}
            data={[
              { value: "light", label: t("Light") },
              { value: "dark", label: t("Dark") },
            ]}
          />
        )}
      </div>
      {view === "text" ? (
        <pre className="plain-email">{text}</pre>
      ) : (
        <EmailFrame view={view} scheme={scheme} html={html} title={title} noteOf={noteOf} />
      )}
    </div>
  );
}

interface EmailFrameProps extends Pick<EmailPreviewProps, "html" | "title"> {
  view: string;
  scheme: string;
  noteOf: EmailPreviewProps["noteOf"];
}

function EmailFrame({ view, scheme, html, title, noteOf }: EmailFrameProps) {
  const [root, setRoot] = useState<HTMLElement>();
  useEffect(() => {
    if (!root) return;
    root.innerHTML = html;
    applyScheme(root, scheme);
    if (noteOf) addNotes(root, noteOf);
  }, [root, scheme, html, noteOf]);
  return (
    <iframe
      className={`${view} ${scheme}`}
      title={title}
      src="/app/preview"
      sandbox="allow-same-origin"
      onLoad={({ currentTarget }) => setRoot(currentTarget.contentDocument?.documentElement)}
    />
  );
}

const schemeQuery = /\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/g;

/**
 * Shows the email as in a scheme, whatever the scheme of this device is. Uses no property of the
 * document: an image with the name of one takes its place.
 */
function applyScheme(root: HTMLElement, scheme: string): void {
  // A query that is always true, or never.
  const answer = (media: string) =>
    media.replace(schemeQuery, (_, asked) => (asked === scheme ? "(width >= 0)" : "(width < 0)"));
  for (const { sheet } of root.querySelectorAll("style")) {
    if (!sheet) continue;
    if (sheet.media.length > 0) sheet.media.mediaText = answer(sheet.media.mediaText);
    for (const rule of sheet.cssRules)
      if ("media" in rule) {
        const media = rule.media as MediaList;
        media.mediaText = answer(media.mediaText);
      }
  }
  for (const source of root.querySelectorAll("source[media]"))
    source.setAttribute("media", answer(source.getAttribute("media")!));
  root.style.colorScheme = scheme;
}

const noteStyle =
  "display:inline-block;margin-left:4px;padding:0 6px;border-radius:9px;background:#4451c7;" +
  "color:#fff;font:600 11px/18px system-ui,sans-serif;vertical-align:middle";

function addNotes(root: HTMLElement, noteOf: (href: string) => string | undefined): void {
  for (const link of root.querySelectorAll<HTMLAnchorElement>("a[href]")) {
    const note = noteOf(link.href);
    if (!note) continue;
    const mark = document.createElement("span");
    mark.style.cssText = noteStyle;
    mark.textContent = note;
    link.append(mark);
  }
}
