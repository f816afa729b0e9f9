import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Pennymail } from "pennymail";
import { refreshGroups } from "../data/changes.ts";
import { lastingApi } from "../data/client.ts";
import { isHidden, recordKey, setHidden } from "../data/hidden-records.ts";
import { queryClient } from "../data/query-client.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";
import { isInUse, RecordUses } from "./record-uses.tsx";

export interface Removal {
  /** Group of the API. With the id, it tells which row is hidden. */
  group: string;
  id: number;
  /** The record: "List “News”". */
  name: string;
  /** What happens to what belongs to the record. */
  consequence: string;
  /** `anyway` deletes what something else still uses. */
  remove(api: Pennymail, anyway: boolean): Promise<unknown>;
  /** The groups of the API to read again. */
  refreshes: readonly string[];
}

const undoMs = 8_000;

/** The requests that wait, by the keys of their records. */
const waiting = new Map<string, () => Promise<void>>();

/** Hides a record at once. It is deleted when its toast closes, unless the user takes it back. */
export function removeWithUndo(removal: Removal): void {
  const key = recordKey(removal.group, removal.id);
  if (isHidden(key)) return;
  const send = async () => {
    if (waiting.delete(key)) await carryOut(removal, false);
  };
  waiting.set(key, send);
  setHidden(key, true);
  // The same function is added once.
  addEventListener("pagehide", sendRemovalsBeforeLeaving);
  notifications.show({
    id: key,
    role: "status",
    title: t("{name} is deleted", { name: removal.name }),
    message: (
      <div className="toast">
        <p>{removal.consequence}</p>
        <Button variant="default" size="compact-sm" onClick={() => undo(key)}>
          {t("Undo")}
        </Button>
      </div>
    ),
    autoClose: undoMs,
    closeButtonProps: { "aria-label": t("Delete now") },
    onClose: () => send().catch(() => {}),
  });
}

/** Deletes now what could still be taken back. Fails if a record cannot be deleted. */
export async function sendRemovals(): Promise<void> {
  const sent = [...waiting].map(([key, send]) => {
    const sending = send();
    notifications.hide(key);
    return sending;
  });
  await Promise.all(sent);
}

/** As `sendRemovals`, for a user who leaves: a toast tells what could not be deleted. */
export const sendRemovalsBeforeLeaving = (): Promise<void> => sendRemovals().catch(() => {});

/** Takes back the latest deletion that was not sent yet. */
export function undoRemoval(): void {
  const latest = [...waiting.keys()].at(-1);
  if (latest !== undefined) undo(latest);
}

function undo(key: string): void {
  if (!waiting.delete(key)) return;
  setHidden(key, false);
  notifications.hide(key);
}

async function carryOut(removal: Removal, anyway: boolean): Promise<void> {
  const { group, id, remove, refreshes } = removal;
  try {
    await remove(lastingApi, anyway);
    await refreshGroups(queryClient, refreshes);
  } catch (error) {
    showFailure(removal, error);
    throw error;
  } finally {
    setHidden(recordKey(group, id), false);
  }
}

/** Stays until the user closes it. */
function showFailure(removal: Removal, error: unknown): void {
  const { group, id, name } = removal;
  const key = `${recordKey(group, id)}/failure`;
  const deleteAnyway = () => {
    notifications.hide(key);
    setHidden(recordKey(group, id), true);
    carryOut(removal, true).catch(() => {});
  };
  notifications.show({
    id: key,
    color: "red",
    title: t("{name} is not deleted", { name }),
    message: isInUse(error) ? (
      <div className="stack">
        <RecordUses error={error} />
        <Button color="red" size="compact-sm" onClick={deleteAnyway}>
          {t("Delete anyway")}
        </Button>
      </div>
    ) : (
      <ErrorNote error={error} />
    ),
    autoClose: false,
    closeButtonProps: { "aria-label": t("Close") },
  });
}
