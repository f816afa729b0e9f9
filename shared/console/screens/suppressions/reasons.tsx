import type { Suppression } from "pennymail";
import { t } from "../../language/translate.ts";
import { StatusMark } from "../../parts/status-mark.tsx";

export type ReasonName = Suppression["reason"];

interface ReasonWords {
  label: string;
  tone: "bad" | "warn" | "quiet";
  /** What it means for email, as a sentence. */
  meaning: string;
}

export const words: Record<ReasonName, ReasonWords> = {
  bounce: {
    label: t("Bounce"),
    tone: "bad",
    meaning: t("The address refused an email for good, so nothing is sent to it."),
  },
  spam_report: {
    label: t("Spam report"),
    tone: "bad",
    meaning: t("The recipient reported an email as spam, so nothing is sent to the address."),
  },
  unsubscribe: {
    label: t("Unsubscribed"),
    tone: "quiet",
    meaning: t("The recipient left marketing email. Transactional email is still sent."),
  },
  manual: {
    label: t("Added here"),
    tone: "warn",
    meaning: t("Somebody of your organization added the address, so nothing is sent to it."),
  },
  import: {
    label: t("Import"),
    tone: "warn",
    meaning: t("The address came with an import, so nothing is sent to it."),
  },
};

export const warnings = t(
  "Do this only if the address works and its owner wants your email: " +
    "another bounce or complaint harms the delivery of all your email.",
);

/** Whether the contact was erased: then the list has only a hash of the address. */
export const isErased = (email: string): boolean => email.startsWith("sha256:");

type Entry = Pick<Suppression, "bounceType"> & { reason: ReasonName };

const softBounce: ReasonWords = {
  label: t("Soft bounce"),
  tone: "warn",
  meaning: t(
    "The mailbox takes no email for now, so marketing email waits. Transactional email is still " +
      "sent.",
  ),
};

export const wordsOf = ({ reason, bounceType }: Entry): ReasonWords =>
  bounceType === "soft" ? softBounce : words[reason];

export function ReasonMark({ entry }: { entry: Entry }) {
  const { label, tone } = wordsOf(entry);
  return <StatusMark status={label} tone={tone} />;
}
