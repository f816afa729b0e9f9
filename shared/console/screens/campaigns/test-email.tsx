import type { CampaignDetail } from "pennymail";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { TestEmailForm } from "../../parts/test-email-form.tsx";
import { isComplete } from "./audience.ts";

/** Sends what recipients would get to people who review it. */
export function TestEmail({ campaign, isSaving }: { campaign: CampaignDetail; isSaving: boolean }) {
  return (
    <Card title={t("6. Test email")}>
      <TestEmailForm
        description={t("Up to ten addresses, separated by commas. The figures stay as they are.")}
        isDisabled={!isComplete(campaign) || isSaving}
        send={async (emails) => (await api.campaigns.sendProofs(campaign.id, { emails })).proofs}
      />
    </Card>
  );
}
