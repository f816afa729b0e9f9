// Says in words that an action was done.

import { notifications } from "@mantine/notifications";
import { t } from "../language/translate.ts";

const shownMs = 4_000;

export function showDone(message: string): void {
  notifications.show({
    role: "status",
    message,
    autoClose: shownMs,
    closeButtonProps: { "aria-label": t("Close") },
  });
}
