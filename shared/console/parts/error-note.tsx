import { PennymailError } from "pennymail";
import { CopyAction } from "./copy-action.tsx";

/** What went wrong, what the API advises, and the id of the request for support. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null;
  const known = error instanceof PennymailError ? error : undefined;
  // A single field is named in the message already.
  const details = known && known.details.length > 1 ? known.details : [];
  return (
    <div className="error-note" role="alert">
      <p>{known?.message ?? "The console could not finish this."}</p>
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
