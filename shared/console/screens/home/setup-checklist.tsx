// From a new account to the first email: one step is open at a time.
import { Accordion, Button, PasswordInput, Select, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Provider, SetupChecklist as Setup } from "pennymail";
import { type FormEvent, type ReactNode, useState } from "react";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { wordsOf } from "../../format.ts";
import { DnsRecords } from "../../parts/dns-records.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

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
    <section className="card" aria-labelledby="setup">
      <h2 id="setup">Set up</h2>
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
    </section>
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

interface FormFrameProps {
  action: string;
  right: string;
  /** Does the step. The checklist is read again afterwards. */
  save(): Promise<unknown>;
  /** The groups of the API that the step changes, which are read again too. */
  changes: string[];
  children?: ReactNode;
}

function FormFrame({ action, right, save, changes, children }: FormFrameProps) {
  const isAllowed = useRight(right);
  const queryClient = useQueryClient();
  const saving = useMutation({
    mutationFn: save,
    onSuccess: () =>
      queryClient.invalidateQueries({
        predicate: ({ queryKey: [group] }) =>
          group === "organization" || changes.includes(group as string),
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <form className="stack narrow" onSubmit={submit}>
      {children}
      <ErrorNote error={saving.error} />
      {!isAllowed && <p className="quiet">Your role does not allow this. Ask an owner.</p>}
      <Button type="submit" disabled={!isAllowed} loading={saving.isPending}>
        {action}
      </Button>
    </form>
  );
}

function SiteForm() {
  const [name, setName] = useState("");
  const [domain, setDomain] = useState("");
  const save = () => api.sites.create({ name, ...(domain && { domain }) });
  return (
    <FormFrame action="Create site" right="organization:write" save={save} changes={["sites"]}>
      <TextInput
        label="Name"
        required
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Website (optional)"
        placeholder="shop.example"
        value={domain}
        onChange={(event) => setDomain(event.currentTarget.value)}
      />
    </FormFrame>
  );
}

function SendingConfigForm() {
  const { data } = useQuery(queries.providers());
  const [key, setKey] = useState<string | null>(null);
  const [fromEmail, setFromEmail] = useState("");
  const [fromName, setFromName] = useState("");
  const [credentials, setCredentials] = useState<Record<string, string>>({});
  const provider = data?.providers.find((one) => one.key === key);
  const save = () =>
    api.sendingConfigs.create({
      provider: key as "sendgrid",
      fromEmail,
      credentials: Object.fromEntries(Object.entries(credentials).filter(([, value]) => value)),
      ...(fromName && { fromName }),
    });
  return (
    <FormFrame
      action="Connect provider"
      right="credentials:write"
      save={save}
      changes={["sendingConfigs"]}
    >
      <Select
        label="Provider"
        required
        searchable
        data={data?.providers.map(({ key: value, name: label }) => ({ value, label })) ?? []}
        value={key}
        onChange={setKey}
      />
      {provider?.configFields.map((field) => (
        <CredentialInput
          key={field.name}
          field={field}
          value={credentials[field.name] ?? ""}
          onChange={(value) => setCredentials({ ...credentials, [field.name]: value })}
        />
      ))}
      <TextInput
        label="Sender address"
        type="email"
        required
        value={fromEmail}
        onChange={(event) => setFromEmail(event.currentTarget.value)}
      />
      <TextInput
        label="Sender name (optional)"
        value={fromName}
        onChange={(event) => setFromName(event.currentTarget.value)}
      />
    </FormFrame>
  );
}

interface CredentialInputProps {
  field: Provider["configFields"][number];
  value: string;
  onChange(value: string): void;
}

function CredentialInput({ field, value, onChange }: CredentialInputProps) {
  const { name, description, required, options } = field;
  const label = required ? wordsOf(name) : `${wordsOf(name)} (optional)`;
  if (options)
    return (
      <Select
        label={label}
        description={description}
        required={required}
        data={options}
        value={value || null}
        onChange={(chosen) => onChange(chosen ?? "")}
      />
    );
  return (
    <PasswordInput
      label={label}
      description={description}
      required={required}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function DomainForm({ step }: { step: Step }) {
  const { data: configs } = useQuery(queries.sendingConfigs());
  const sender = configs?.sendingConfigs[0]?.fromEmail;
  const [typed, setTyped] = useState<string>();
  const name = typed ?? sender?.split("@")[1] ?? "";
  if (step.recordId !== null) return <DnsRecords domainId={step.recordId} />;
  return (
    <FormFrame
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
    </FormFrame>
  );
}

function VerifyForm({ step: { recordId } }: { step: Step }) {
  const { user } = useMe();
  const [to, setTo] = useState(user.email);
  if (recordId === null) return <p className="quiet">Connect your email provider first.</p>;
  return (
    <FormFrame
      action="Send test email"
      right="credentials:write"
      save={() => api.sendingConfigs.verify(recordId, { to })}
      changes={["sendingConfigs"]}
    >
      <TextInput
        label="Send it to"
        type="email"
        required
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
    </FormFrame>
  );
}

function AddressForm() {
  const [physicalAddress, setAddress] = useState("");
  return (
    <FormFrame
      action="Save address"
      right="organization:write"
      save={() => api.compliance.updateSettings({ physicalAddress })}
      changes={[]}
    >
      <Textarea
        label="Postal address"
        description="The law requires one in marketing email. A post office box is fine."
        required
        autosize
        minRows={2}
        value={physicalAddress}
        onChange={(event) => setAddress(event.currentTarget.value)}
      />
    </FormFrame>
  );
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "<br>" };
const toHtml = (text: string): string =>
  `<p>${text.replace(/[&<>\n]/g, (character) => entities[character]!)}</p>`;

function FirstSendForm() {
  const { user } = useMe();
  const { site } = useSite();
  const [to, setTo] = useState(user.email);
  const [subject, setSubject] = useState("Hello from Pennymail");
  const [text, setText] = useState("This is my first email.");
  const { data } = useQuery(queries.sendingConfigs());
  const sendingConfigId = data?.sendingConfigs.find(({ verified }) => verified)?.id;
  if (!site || !sendingConfigId)
    return <p className="quiet">Create a site and send a test email first.</p>;
  const email = { siteId: site.id, sendingConfigId, to, subject, text, html: toHtml(text) };
  return (
    <FormFrame
      action="Send email"
      right="sending:write"
      save={() => api.send(email)}
      changes={["analytics", "sends"]}
    >
      <TextInput
        label="To"
        type="email"
        required
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <TextInput
        label="Subject"
        required
        value={subject}
        onChange={(event) => setSubject(event.currentTarget.value)}
      />
      <Textarea
        label="Text"
        required
        autosize
        minRows={3}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </FormFrame>
  );
}
