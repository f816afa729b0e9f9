import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { t } from "../language/translate.ts";

export function NotFoundScreen() {
  return (
    <div className="empty">
      <h1>{t("There is no such screen")}</h1>
      <p>{t("The address may be mistyped, or what it showed was deleted.")}</p>
      <Button component={Link} to="/" variant="default">
        {t("Go to Home")}
      </Button>
    </div>
  );
}
