import { Link } from "@tanstack/react-router";
import { useMe, useRights } from "../../data/session.ts";
import { t } from "../../language/translate.ts";

/** The views of the log: emails, what happened to them, calls of programs, and changes. */
export function LogTabs() {
  const { auth } = useMe();
  const has = useRights();
  return (
    <nav className="tabs" aria-label={t("Log")}>
      <Link to="/log" activeOptions={{ exact: true }} activeProps={{ "aria-current": "page" }}>
        {t("Emails")}
      </Link>
      <Link to="/log/events" activeProps={{ "aria-current": "page" }}>
        {t("Events")}
      </Link>
      <Link to="/log/secure" activeProps={{ "aria-current": "page" }}>
        {t("Secure messages")}
      </Link>
      <Link to="/log/inbound" activeProps={{ "aria-current": "page" }}>
        {t("Received")}
      </Link>
      {auth.siteIds === null && (
        <Link to="/log/unmatched" activeProps={{ "aria-current": "page" }}>
          {t("Not matched")}
        </Link>
      )}
      {has("credentials:read") && (
        <Link to="/log/requests" activeProps={{ "aria-current": "page" }}>
          {t("Requests")}
        </Link>
      )}
      {has("audit:read") && (
        <Link to="/log/changes" activeProps={{ "aria-current": "page" }}>
          {t("Changes")}
        </Link>
      )}
    </nav>
  );
}
