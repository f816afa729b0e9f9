import { Link } from "@tanstack/react-router";
import { t } from "../../language/translate.ts";

/** Sequences, and the emails of one day for everybody who is in one. */
export const SequenceTabs = () => (
  <nav className="tabs" aria-label={t("Sequences")}>
    <Link to="/sequences" activeOptions={{ exact: true }} activeProps={{ "aria-current": "page" }}>
      {t("Sequences")}
    </Link>
    <Link to="/sequences/holidays" activeProps={{ "aria-current": "page" }}>
      {t("Holiday emails")}
    </Link>
  </nav>
);
