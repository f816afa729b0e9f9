import { Modal } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { t } from "../language/translate.ts";
import { listShortcuts, nameKeys, type Shortcut } from "../parts/shortcuts.ts";

/** Where to read on, the shortcuts of the screen that is shown, and those of all screens. */
export function Help({ onClose }: { onClose(): void }) {
  const [groups] = useState(() => [
    { title: t("On this screen"), shortcuts: listShortcuts("screen") },
    { title: t("Everywhere"), shortcuts: listShortcuts("everywhere") },
  ]);
  return (
    <Modal opened onClose={onClose} title={t("Help")} lockScroll={false} size="lg">
      <ul className="bullets">
        <li>
          <a href="/api/v1/docs" target="_blank" rel="noreferrer">
            {t("Guides and reference for developers")}
          </a>
        </li>
        <li>
          <a href="/api/v1/docs/errors" target="_blank" rel="noreferrer">
            {t("What each error code means")}
          </a>
        </li>
        <li>
          <Link to="/settings/{-$section}" params={{ section: "keys" }} onClick={onClose}>
            {t("API keys for your programs")}
          </Link>
        </li>
      </ul>
      <h2>{t("Keyboard shortcuts")}</h2>
      <div className="shortcut-groups">
        {groups.map(({ title, shortcuts }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            {shortcuts.length === 0 && (
              <p className="quiet">{t("This screen has none of its own.")}</p>
            )}
            <dl>
              {shortcuts.map((shortcut) => (
                <Row key={shortcut.keys.join()} {...shortcut} />
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}

function Row({ keys, label }: Shortcut) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {keys.map((alternative, i) => (
          <span key={alternative}>
            {i > 0 && t(" or ")}
            {alternative.split(" ").map((key) => (
              <kbd key={key}>{nameKeys(key)}</kbd>
            ))}
          </span>
        ))}
      </dd>
    </div>
  );
}
