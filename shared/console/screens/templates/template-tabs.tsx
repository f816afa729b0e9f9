import { Link } from "@tanstack/react-router";
import { t } from "../../language/translate.ts";

/** The lists of what emails are made from. */
export function TemplateTabs() {
  return (
    <nav className="tabs" aria-label={t("Templates")}>
      <Link to="/templates" activeProps={{ "aria-current": "page" }}>
        {t("Emails")}
      </Link>
      <Link to="/snippets" activeProps={{ "aria-current": "page" }}>
        {t("Snippets")}
      </Link>
    </nav>
  );
}
