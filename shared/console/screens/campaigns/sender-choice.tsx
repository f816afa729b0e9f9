import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { ownSenderTexts } from "../../parts/own-sender-texts.ts";
import { SavedText } from "../../parts/saved-text.tsx";
import type { ChoiceProps } from "./campaign-draft.tsx";

/** Chooses the sender. Few campaigns need another name or address, so these are folded away. */
export function SenderChoice({ campaign, onChange }: ChoiceProps) {
  const { siteId, sendingConfigId } = campaign;
  const providerName = useProviderNames();
  const configs = useQuery(queries.sendingConfigs()).data?.sendingConfigs ?? [];
  const site = useQuery(queries.sites()).data?.sites.find(({ id }) => id === siteId);
  const config = configs.find(({ id }) => id === sendingConfigId);
  const hasOwn = Boolean(campaign.fromName || campaign.fromEmail || campaign.replyTo);
  return (
    <>
      <Select
        label={t("From")}
        placeholder={t("Choose a sender")}
        data={configs
          .filter(({ fromEmail }) => fromEmail !== null)
          .map(({ id, fromEmail, fromName, provider }) => ({
            value: String(id),
            label: t("{sender} by {provider}", {
              sender: fromName ? `${fromName} <${fromEmail}>` : fromEmail,
              provider: providerName(provider),
            }),
          }))}
        value={sendingConfigId === null ? null : String(sendingConfigId)}
        onChange={(id) => onChange({ sendingConfigId: id ? Number(id) : null })}
      />
      <details className="more-choices" open={hasOwn || undefined}>
        <summary>{t("Another name, address or reply address")}</summary>
        <div className="stack">
          <SavedText
            {...ownSenderTexts.fromName}
            placeholder={config?.fromName ?? ""}
            value={campaign.fromName}
            onSave={(text) => onChange({ fromName: text })}
          />
          <SavedText
            {...ownSenderTexts.fromEmail}
            placeholder={config?.fromEmail ?? ""}
            value={campaign.fromEmail}
            onSave={(text) => onChange({ fromEmail: text })}
          />
          <SavedText
            {...ownSenderTexts.replyTo}
            placeholder={site?.replyTo ?? config?.replyTo ?? ""}
            value={campaign.replyTo}
            onSave={(text) => onChange({ replyTo: text })}
          />
        </div>
      </details>
    </>
  );
}
