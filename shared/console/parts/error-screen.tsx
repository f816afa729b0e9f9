import { Button } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";

/** In place of a screen that cannot be shown. */
export function ErrorScreen({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <div className="empty">
      <h1>{t("This screen could not be loaded")}</h1>
      <ErrorNote error={error} />
      <Button variant="default" onClick={() => router.invalidate()}>
        {t("Try again")}
      </Button>
    </div>
  );
}
