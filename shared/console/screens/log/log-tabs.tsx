import { Link } from "@tanstack/react-router";
import { useMe } from "../../data/session.ts";
import { t } from "../../language/translate.ts";

/** The views of the log. */
export function LogTabs() {
  const { auth } = useMe();
  return (
    <nav className="tabs" aria-label={t("Log")}>
      <Link to="/log" activeOptions={{ exact: true }} activeProps={{ "aria-current": "page" }}>
        {t("Emails")}
      </Link>
      <Link to="/log/events" activeProps={{ "aria-current": "page" }}>
        {t("Events")}
      </Link>
      {auth.siteIds === null && (
        <Link to="/log/unmatched" activeProps={{ "aria-current": "page" }}>
          {t("Not matched")}
        </Link>
      )}
    </nav>
  );
}
