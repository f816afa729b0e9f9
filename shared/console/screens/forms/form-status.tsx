import type { FormMeta } from "pennymail";
import { t } from "../../language/translate.ts";
import { StatusMark } from "../../parts/status-mark.tsx";

const tones = { active: "good", draft: "quiet", inactive: "warn" } as const;

export function FormStatus({ status }: Pick<FormMeta, "status">) {
  return <StatusMark status={status === "inactive" ? t("Closed") : status} tone={tones[status]} />;
}
