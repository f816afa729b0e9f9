import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { CampaignDetail } from "pennymail";
import { api } from "../../data/client.ts";
import { useMe } from "../../data/session.ts";
import { countOf } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { splitAddresses, useTextField } from "../../parts/text-field.ts";
import { isComplete } from "./audience.ts";

/** Sends what recipients would get to people who review it. */
export function TestEmail({ campaign, isSaving }: { campaign: CampaignDetail; isSaving: boolean }) {
  const { user } = useMe();
  const addresses = useTextField(user.email);
  const emails = splitAddresses(addresses.value);
  const sending = useMutation({
    mutationFn: () => api.campaigns.sendProofs(campaign.id, { emails }),
  });
  const proofs = sending.data?.proofs ?? [];
  const refused = proofs.filter(({ status }) => status === "failed");
  return (
    <Card title="5. Test email">
      <TextInput
        label="Send it to"
        description="Up to ten addresses, separated by commas. The figures stay as they are."
        {...addresses.input}
      />
      <ErrorNote error={sending.error} />
      <div role="status">
        {sending.isSuccess && (
          <p>
            {countOf(proofs.length - refused.length, "test email")}{" "}
            {proofs.length - refused.length === 1 ? "is" : "are"} on the way.
            {refused.length > 0 &&
              ` On the suppression list: ${refused.map(({ email }) => email).join(", ")}`}
          </p>
        )}
      </div>
      <div className="buttons">
        <Button
          variant="default"
          disabled={!isComplete(campaign) || isSaving || emails.length === 0}
          loading={sending.isPending}
          onClick={() => sending.mutate()}
        >
          Send test email
        </Button>
      </div>
    </Card>
  );
}
