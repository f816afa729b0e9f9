import { ConflictError } from "pennymail";
import { capitalize } from "../format.ts";
import { t } from "../language/translate.ts";

/** The first attempt to delete a record fails if something uses it. The second one deletes it. */
export const deleteQuery = (anyway: boolean): { ifUnused?: "true" } =>
  anyway ? {} : { ifUnused: "true" };

/** The record is not deleted, because something uses it. */
export const isInUse = (error: unknown): error is ConflictError =>
  error instanceof ConflictError && error.code === "in_use";

interface RecordUsesProps {
  error: ConflictError;
  /** What happens to them. */
  note?: string | undefined;
}

const pauses = t(
  "Active sequences would pause, and scheduled campaigns would become drafts again.",
);

/** What uses the record. */
export function RecordUses({ error, note = pauses }: RecordUsesProps) {
  return (
    <div className="stack" role="alert">
      <p>{t("What uses it would no longer find it:")}</p>
      <ul className="bullets">
        {error.details.map(({ path, message }) => (
          <li key={path}>{capitalize(message)}</li>
        ))}
      </ul>
      <p>{note}</p>
    </div>
  );
}
