import { PennymailError } from "pennymail";
import { CopyAction } from "./copy-action.tsx";

/** An error of the console itself. */
const adviceFor = (error: unknown): string =>
  "The console could not finish this. Reload the page and try again. If it fails again, report " +
  `what you did and this text: ${error instanceof Error ? error.message : String(error)}`;

/** What went wrong, what the API advises, and the id of the request for support. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null;
  const known = error instanceof PennymailError ? error : undefined;
  // A single field is named in the message already.
  const details = known && known.details.length > 1 ? known.details : [];
  return (
    <div className="error-note" role="alert">
      <p>{known?.message ?? adviceFor(error)}</p>
      {details.map(({ path, message }) => (
        <p key={path}>
          <b>{path}</b> {message}
        </p>
      ))}
      {known?.ssoUrl && (
        <p>
          <a href={known.ssoUrl}>Sign in with single sign-on</a>
        </p>
      )}
      {known?.requestId && (
        <p className="request-id">
          Request {known.requestId}
          <CopyAction value={known.requestId} label="Copy the id of the request" />
        </p>
      )}
    </div>
  );
}
