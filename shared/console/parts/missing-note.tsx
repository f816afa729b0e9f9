import type { MissingReference } from "pennymail";
import { capitalize } from "../format.ts";
import { t } from "../language/translate.ts";

/** Deleted records that a record still names. */
export function MissingNote({ missing = [] }: { missing: MissingReference[] | undefined }) {
  if (!missing.length) return null;
  return (
    <div className="error-note" role="status">
      {missing.map(({ path, message }) => (
        <p key={path}>{t("{message}: choose another one.", { message: capitalize(message) })}</p>
      ))}
    </div>
  );
}
