// From a new account to the first email: one step is open at a time.
import { Accordion, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SetupChecklist as Setup } from "pennymail";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { Card } from "../../parts/card.tsx";
import { DnsRecords } from "../../parts/dns-records.tsx";
import { Form } from "../../parts/form.tsx";
import { SenderFields, useSenderFields } from "../../parts/sender-fields.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";

type Step = Setup["steps"][number];

interface StepText {
  title: string;
  Form(props: { step: Step }): ReactNode;
}

const texts: Record<Step["key"], StepText> = {
  site: { title: "Name the site or brand that you send for", Form: SiteForm },
  sending_config: { title: "Connect your email provider", Form: SendingConfigForm },
  domain: { title: "Prove that the sender's domain is yours", Form: DomainForm },
  verified_sender: { title: "Send a test email through the provider", Form: VerifyForm },
  postal_address: { title: "Add a postal address for the footer", Form: AddressForm },
  first_send: { title: "Send your first email", Form: FirstSendForm },
};

export function SetupChecklist({ setup: { steps } }: { setup: Setup }) {
  const done = steps.filter((step) => step.done).length;
  const firstOpen = steps.find((step) => !step.done)?.key ?? null;
  const [chosen, setChosen] = useState<string | null>();
  return (
    <Card title="Set up">
      <p className="quiet">
        {done} of {steps.length} steps are done.
      </p>
      <Accordion value={chosen === undefined ? firstOpen : chosen} onChange={setChosen}>
        {steps.map((step) => (
          <Accordion.Item key={step.key} value={step.key}>
            <Accordion.Control>
              <span className="setup-step">
                <StatusMark status={stateOf(step)} tone={step.done ? "good" : "quiet"} />
                {texts[step.key].title}
              </span>
            </Accordion.Control>
            <Accordion.Panel>
              <StepForm step={step} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Card>
  );
}

function stateOf({ done, required }: Step): string {
  if (done) return "done";
  return required ? "to do" : "advised";
}

function StepForm({ step }: { step: Step }) {
  const { Form } = texts[step.key];
  return <Form step={step} />;
}

interface StepFrameProps {
  action: string;
  right: string;
  /** Does the step. The checklist is read again afterwards. */
  save(): Promise<unknown>;
  /** The groups of the API that the step changes, which are read again too. */
  changes: string[];
  children?: ReactNode;
}

function StepFrame({ action, right, save, changes, children }: StepFrameProps) {
  const isAllowed = useRight(right);
  const saving = useChange({ run: save, refreshes: ["organization", ...changes] });
  return (
    <Form className="stack narrow" action={action} submission={saving} isDisabled={!isAllowed}>
      {children}
      {!isAllowed && <p className="quiet">Your role does not allow this. Ask an owner.</p>}
    </Form>
  );
}

function SiteForm() {
  const name = useTextField();
  const domain = useTextField();
  const save = () =>
    api.sites.create({ name: name.value, ...(domain.value && { domain: domain.value }) });
  return (
    <StepFrame action="Create site" right="organization:write" save={save} changes={["sites"]}>
      <TextInput label="Name" required {...name.input} />
      <TextInput label="Website (optional)" placeholder="shop.example" {...domain.input} />
    </StepFrame>
  );
}

function SendingConfigForm() {
  const sender = useSenderFields();
  return (
    <StepFrame
      action="Connect provider"
      right="credentials:write"
      save={() => api.sendingConfigs.create(sender.request())}
      changes={["sendingConfigs"]}
    >
      <SenderFields sender={sender} />
    </StepFrame>
  );
}

function DomainForm({ step }: { step: Step }) {
  const { data: configs } = useQuery(queries.sendingConfigs());
  const sender = configs?.sendingConfigs[0]?.fromEmail;
  const [typed, setTyped] = useState<string>();
  const name = typed ?? sender?.split("@")[1] ?? "";
  if (step.recordId !== null) return <DnsRecords domainId={step.recordId} />;
  return (
    <StepFrame
      action="Show DNS records"
      right="credentials:write"
      save={() => api.domains.create({ name })}
      changes={["domains"]}
    >
      <TextInput
        label="Domain of the sender"
        required
        value={name}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </StepFrame>
  );
}

function VerifyForm({ step: { recordId } }: { step: Step }) {
  const { user } = useMe();
  const to = useTextField(user.email);
  if (recordId === null) return <p className="quiet">Connect your email provider first.</p>;
  return (
    <StepFrame
      action="Send test email"
      right="credentials:write"
      save={() => api.sendingConfigs.verify(recordId, { to: to.value })}
      changes={["sendingConfigs"]}
    >
      <TextInput label="Send it to" type="email" required {...to.input} />
    </StepFrame>
  );
}

function AddressForm() {
  const address = useTextField();
  return (
    <StepFrame
      action="Save address"
      right="organization:write"
      save={() => api.compliance.updateSettings({ physicalAddress: address.value })}
      changes={[]}
    >
      <Textarea
        label="Postal address"
        description="The law requires one in marketing email. A post office box is fine."
        required
        autosize
        minRows={2}
        {...address.input}
      />
    </StepFrame>
  );
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "<br>" };
const toHtml = (text: string): string =>
  `<p>${text.replace(/[&<>\n]/g, (character) => entities[character]!)}</p>`;

function FirstSendForm() {
  const { user } = useMe();
  const { site } = useSite();
  const to = useTextField(user.email);
  const subject = useTextField("Hello from Pennymail");
  const text = useTextField("This is my first email.");
  const { data } = useQuery(queries.sendingConfigs());
  const sendingConfigId = data?.sendingConfigs.find(({ verified }) => verified)?.id;
  if (!site || !sendingConfigId)
    return <p className="quiet">Create a site and send a test email first.</p>;
  const email = {
    siteId: site.id,
    sendingConfigId,
    to: to.value,
    subject: subject.value,
    text: text.value,
    html: toHtml(text.value),
  };
  return (
    <StepFrame
      action="Send email"
      right="sending:write"
      save={() => api.send(email)}
      changes={["analytics", "sends"]}
    >
      <TextInput label="To" type="email" required {...to.input} />
      <TextInput label="Subject" required {...subject.input} />
      <Textarea label="Text" required autosize minRows={3} {...text.input} />
    </StepFrame>
  );
}
