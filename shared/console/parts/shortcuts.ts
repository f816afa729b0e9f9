// The keyboard shortcuts. Each is registered where its code is, and the help shows what is
// registered.

import { useEffect, useRef } from "react";
import { t } from "../language/translate.ts";

export interface Shortcut {
  /**
   * Keys that do the same: `c`, `g c` (one after the other), `mod+S` (Ctrl, and Cmd on a Mac). The
   * names are those of `KeyboardEvent.key`.
   */
  keys: readonly string[];
  /** Verb and object: "Create a campaign". */
  label: string;
  /** Undefined: the element with the focus handles the key itself. */
  run?: (() => unknown) | undefined;
  /** Whether it also works while the user types in a field. */
  inFields?: boolean;
}

const isMac = () => /Mac|iPhone|iPad/.test(navigator.userAgent);

const keyNames: Record<string, string> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  PageDown: t("Page down"),
  PageUp: t("Page up"),
  Escape: t("Esc"),
};

/** Keys as they are written on the keyboard. */
export const nameKeys = (keys: string): string =>
  (keyNames[keys] ?? keys)
    .replace("mod+", isMac() ? "⌘" : "Ctrl ")
    .replace("shift+", isMac() ? "⇧" : "Shift ");

type Scope = "screen" | "everywhere";

interface Registration {
  scope: Scope;
  shortcuts: { readonly current: readonly Shortcut[] };
}

const registrations = new Set<Registration>();

/** Registers shortcuts while the component is shown. */
export function useShortcuts(shortcuts: readonly Shortcut[], scope: Scope = "screen"): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const registration = { scope, shortcuts: latest };
    if (registrations.size === 0) addEventListener("keydown", runShortcut);
    registrations.add(registration);
    runAwaited(latest.current);
    return () => {
      registrations.delete(registration);
      if (registrations.size === 0) removeEventListener("keydown", runShortcut);
    };
  }, [scope]);
}

/** Those that work now, each once. */
export function listShortcuts(scope: Scope): Shortcut[] {
  const listed = new Map<string, Shortcut>();
  for (const registration of registrations)
    if (registration.scope === scope)
      for (const shortcut of registration.shortcuts.current)
        listed.set(shortcut.keys.join(), shortcut);
  return [...listed.values()];
}

const find = (matches: (keys: string) => boolean): Shortcut | undefined =>
  [...registrations]
    .flatMap(({ shortcuts }) => shortcuts.current)
    .findLast(({ keys, run }) => run && keys.some(matches));

/** The keys so far of a shortcut with several. */
let prefix = "";

function runShortcut(event: KeyboardEvent): void {
  // The first element of the path may be in a shadow root.
  const target = event.composedPath()[0];
  if (event.defaultPrevented || !(target instanceof Element) || isModifier(event.key)) return;
  if (target.closest("[role=dialog], [role=menu]")) return;
  const pressed = prefix + nameOf(event);
  prefix = "";
  const shortcut = find((keys) => keys === pressed);
  if (shortcut && (shortcut.inFields || !isTyping(target))) {
    event.preventDefault();
    shortcut.run?.();
  } else if (!isTyping(target) && find((keys) => keys.startsWith(`${pressed} `)))
    prefix = `${pressed} `;
}

const isModifier = (key: string): boolean => ["Control", "Meta", "Shift", "Alt"].includes(key);

const isTyping = (target: Element): boolean =>
  target.closest("input, textarea, select, [contenteditable=true]") !== null;

function nameOf({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): string {
  if (!ctrlKey && !metaKey) return altKey ? "" : key;
  return `mod+${shiftKey ? "shift+" : ""}${key.toUpperCase()}`;
}

let awaited: { key: string; path: string } | undefined;

/** Runs the shortcut `key` of the page at `path`, as soon as the page is shown. */
export function runOnPage(key: string, path: string): void {
  if (location.pathname.endsWith(path)) find((keys) => keys === key)?.run?.();
  else awaited = { key, path };
}

/** The user stays on the page. */
export function forgetAwaitedShortcut(): void {
  awaited = undefined;
}

function runAwaited(added: readonly Shortcut[]): void {
  if (!awaited || !location.pathname.endsWith(awaited.path)) return;
  const { key } = awaited;
  const shortcut = added.find(({ keys }) => keys.includes(key));
  if (!shortcut) return;
  awaited = undefined;
  shortcut.run?.();
}
