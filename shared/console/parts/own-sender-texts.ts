// The texts of the fields with which a campaign, a sequence or a holiday email replaces parts of
// its sender.
import { t } from "../language/translate.ts";
export const ownSenderTexts = {
  fromName: {
    label: t("Sender name (optional)"),
    description: t("Without it, the name of the chosen sender is used."),
    maxLength: 100,
  },
  fromEmail: {
    label: t("Sender address (optional)"),
    description: t(
      "Another address of the sender’s domain, or of a domain that you have verified.",
    ),
    maxLength: 254,
  },
  replyTo: {
    label: t("Replies to (optional)"),
    description: t("Without it, replies go where the site or the sender says."),
    maxLength: 254,
  },
};
