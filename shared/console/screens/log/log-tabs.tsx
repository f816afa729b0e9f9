import { Link } from "@tanstack/react-router";
import { useMe } from "../../data/session.ts";

/** The views of the log. */
export function LogTabs() {
  const { auth } = useMe();
  return (
    <nav className="tabs" aria-label="Log">
      <Link to="/log" activeOptions={{ exact: true }} activeProps={{ "aria-current": "page" }}>
        Emails
      </Link>
      <Link to="/log/events" activeProps={{ "aria-current": "page" }}>
        Events
      </Link>
      {auth.siteIds === null && (
        <Link to="/log/unmatched" activeProps={{ "aria-current": "page" }}>
          Not matched
        </Link>
      )}
    </nav>
  );
}
