import { PennymailError } from "pennymail";
import { t } from "../language/translate.ts";
import { CopyAction } from "./copy-action.tsx";
import { ReadableError } from "./readable-error.ts";

/** An error of the console itself. */
const adviceFor = (error: unknown): string =>
  t(
    "The console could not finish this. Reload the page and try again. If " +
      "it fails again, report what you did and this text: {error}",
    { error: error instanceof Error ? error.message : String(error) },
  );

/** What went wrong, what the API advises, and the id of the request for support. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null;
  const known = error instanceof PennymailError ? error : undefined;
  // A single field is named in the message already.
  const details = known && known.details.length > 1 ? known.details : [];
  return (
    <div className="error-note" role="alert">
      <p>{known?.message ?? (error instanceof ReadableError ? error.message : adviceFor(error))}</p>
      {details.map(({ path, message }) => (
        <p key={path}>
          <b>{path}</b> {message}
        </p>
      ))}
      {known?.ssoUrl && (
        <p>
          <a href={known.ssoUrl}>{t("Sign in with single sign-on")}</a>
        </p>
      )}
      {known?.requestId && (
        <p className="request-id">
          {t("Request {id}", { id: known.requestId })}
          <CopyAction value={known.requestId} label={t("Copy the id of the request")} />
        </p>
      )}
    </div>
  );
}
