import { Button, FileButton, Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { PostmasterTools } from "pennymail";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo, formatAhead, formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { fieldText } from "../../parts/error-texts.ts";
import { FieldList } from "../../parts/field-list.tsx";
import { FormCard, FormDialog } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";

const refreshes = ["postmaster-tools", "domains"];

/** The service account with which the figures of Gmail are pulled. */
export function PostmasterToolsScreen() {
  const { data, error } = useQuery(queries.postmasterTools());
  const mayWrite = useRight("credentials:write");
  if (data === undefined) return error ? <ErrorNote error={error} /> : <Skeleton h={400} />;
  if (data) return <Access access={data} mayWrite={mayWrite} />;
  return mayWrite ? <NewAccess /> : <NoAccess />;
}

const purpose = t(
  "Google Postmaster Tools shows how many Gmail users report your email as spam, and how much of " +
    "it is authenticated, encrypted and refused. The figures are pulled once a day.",
);

const NoAccess = () => (
  <Card title={t("Connect Google Postmaster Tools")}>
    <p>{purpose}</p>
    <p className="quiet">{t("No key is stored. Your role cannot enter one.")}</p>
  </Card>
);

function NewAccess() {
  const form = useKeyForm(null);
  useUnsavedDraft([form.key.value, form.user.value], form.saving);
  return (
    <FormCard
      title={t("Connect Google Postmaster Tools")}
      action={t("Check and save")}
      submission={form.saving}
    >
      <p>{purpose}</p>
      <Steps />
      <KeyFields form={form} isKeyRequired />
    </FormCard>
  );
}

const link = (href: string) => (text: ReactNode) => (
  <a href={href} target="_blank" rel="noreferrer">
    {text}
  </a>
);

/** What is done at Google. */
const Steps = () => (
  <ol className="numbered">
    <li>
      {tNodes("In the Google Cloud console, <a>create a project</a> or choose one.", {
        a: link("https://console.cloud.google.com/projectcreate"),
      })}
    </li>
    <li>
      {tNodes("Enable the <a>Gmail Postmaster Tools API</a> in it.", {
        a: link(
          "https://console.cloud.google.com/apis/library/gmailpostmastertools.googleapis.com",
        ),
      })}
    </li>
    <li>
      {tNodes("Create a <a>service account</a> in it. It needs no role.", {
        a: link("https://console.cloud.google.com/iam-admin/serviceaccounts"),
      })}
    </li>
    <li>
      {t(
        "Open the account, then Keys, Add key, Create new key, JSON. Enter the file that Google " +
          "gives you below.",
      )}
    </li>
    <li>
      {tNodes(
        "In <a>Postmaster Tools</a>, add your domains. Choose “Manage users” of each, and add " +
          "the address of the service account as a user. Reading is enough.",
        { a: link("https://postmaster.google.com/managedomains") },
      )}
    </li>
  </ol>
);

/** The key and the user of an access. Null: there is none yet. */
function useKeyForm(access: PostmasterTools | null, onDone?: () => void) {
  const key = useTextField();
  const user = useTextField(access?.delegatedUser ?? "");
  const saving = useChange({
    run: () =>
      api.domains.updatePostmasterTools({
        ...(key.value && { serviceAccountKey: key.value }),
        delegatedUser: user.value || null,
      }),
    refreshes,
    ...(onDone && { onDone }),
  });
  return { key, user, saving };
}

/** As the API takes it. */
const maxKeyLength = 8000;
const scopes = ["domain", "traffic.readonly"].map(
  (name) => `https://www.googleapis.com/auth/postmaster.${name}`,
);

interface KeyFieldsProps {
  form: Pick<ReturnType<typeof useKeyForm>, "key" | "user">;
  isKeyRequired: boolean;
}

function KeyFields({ form: { key, user }, isKeyRequired }: KeyFieldsProps) {
  const [isTooLarge, setTooLarge] = useState(false);
  const choose = async (file: File | null) => {
    if (!file) return;
    setTooLarge(file.size > maxKeyLength);
    if (file.size <= maxKeyLength) key.set(await file.text());
  };
  const email = emailOf(key.value);
  return (
    <>
      <Textarea
        className="code"
        label={t("Key of the service account (JSON)")}
        description={
          isKeyRequired
            ? t("It is stored encrypted and not shown again.")
            : t("Empty keeps the stored one.")
        }
        rows={5}
        maxLength={maxKeyLength}
        required={isKeyRequired}
        autoComplete="off"
        spellCheck={false}
        data-field="serviceAccountKey"
        {...key.input}
      />
      <div className="buttons">
        <FileButton accept=".json,application/json" onChange={choose}>
          {(props) => (
            <Button variant="default" {...props}>
              {t("Choose the file")}
            </Button>
          )}
        </FileButton>
      </div>
      {isTooLarge && (
        <p className="tone-bad" role="alert">
          {t("This file is too large to be a key.")}
        </p>
      )}
      {email && (
        <p className="quiet">
          {t("Address of the service account:")}{" "}
          <CopiedText text={email} label={t("Copy the address")} />
        </p>
      )}
      <details className="more-choices" open={Boolean(user.value) || undefined}>
        <summary>{t("With Google Workspace: act for a user")}</summary>
        <div className="stack">
          <p>
            {tNodes(
              "Delegate these scopes to the account in the <a>Admin console</a> (domain-wide " +
                "delegation), and name a user who sees your domains in Postmaster Tools.",
              { a: link("https://admin.google.com/ac/owl/domainwidedelegation") },
            )}
          </p>
          <p>
            <CopiedText text={scopes.join(",")} label={t("Copy the scopes")} />
          </p>
          <TextInput
            className="narrow"
            label={t("User for whom the account acts (optional)")}
            type="email"
            placeholder="ada@shop.example"
            data-field="delegatedUser"
            {...user.input}
          />
        </div>
      </details>
    </>
  );
}

/** The address of the account in the file. Undefined while the text is no such file. */
function emailOf(text: string): string | undefined {
  try {
    const { client_email: email } = JSON.parse(text) as { client_email?: unknown };
    return typeof email === "string" ? email : undefined;
  } catch {
    return undefined;
  }
}

const CopiedText = ({ text, label }: { text: string; label: string }) => (
  <>
    <span className="mono breaks">{text}</span> <CopyAction value={text} label={label} />
  </>
);

const tones = { waiting: "info", working: "good", failing: "bad" } as const;
const stateTexts: Record<PostmasterTools["state"], string> = {
  waiting: t("Not pulled yet"),
  working: t("Working"),
  failing: t("Failing"),
};

interface AccessProps {
  access: PostmasterTools;
  mayWrite: boolean;
}

function Access({ access, mayWrite }: AccessProps) {
  const { timezone } = useMe().organization;
  const { clientEmail, delegatedUser, state, lastPulledAt, nextPullAt } = access;
  return (
    <>
      <Card title={t("Google Postmaster Tools")}>
        <p>
          <StatusMark status={stateTexts[state]} tone={tones[state]} />
        </p>
        <LastError access={access} timezone={timezone} />
        <FieldList
          fields={[
            [
              t("Service account"),
              <CopiedText key="email" text={clientEmail} label={t("Copy the address")} />,
            ],
            ...(delegatedUser ? [[t("Acts for"), delegatedUser] as const] : []),
            [t("Last pull"), lastPulledAt ? formatAgo(lastPulledAt, timezone) : t("Never")],
            [t("Next pull"), formatAhead(nextPullAt, timezone)],
          ]}
        />
        {mayWrite && <Actions access={access} />}
      </Card>
      <ShownDomains access={access} />
    </>
  );
}

function LastError({ access, timezone }: { access: PostmasterTools; timezone: string }) {
  const { lastError, failingSince } = access;
  if (!lastError) return null;
  return (
    <p className="tone-bad">
      {fieldText({ path: "", message: lastError })}{" "}
      {failingSince && t("First failure: {ago}.", { ago: formatAgo(failingSince, timezone) })}
    </p>
  );
}

function Actions({ access }: { access: PostmasterTools }) {
  const { clientEmail, delegatedUser } = access;
  const [isReplacing, setReplacing] = useState(false);
  const [removed, setRemoved] = useState<PostmasterTools>();
  const pulling = useChange({
    run: () => api.domains.updatePostmasterTools({ delegatedUser }),
    refreshes,
  });
  const removing = useChange({
    run: (_access: PostmasterTools) => api.domains.deletePostmasterTools(),
    refreshes,
    onDone: () => setRemoved(undefined),
  });
  return (
    <>
      <ErrorNote error={pulling.error} />
      <div className="buttons">
        <Button variant="default" loading={pulling.isPending} onClick={() => pulling.mutate()}>
          {t("Pull now")}
        </Button>
        <Button variant="default" onClick={() => setReplacing(true)}>
          {t("Replace the key")}
        </Button>
        <Button variant="default" onClick={() => setRemoved(access)}>
          {t("Remove")}
        </Button>
      </div>
      {isReplacing && <ReplaceDialog access={access} onClose={() => setReplacing(false)} />}
      <ConfirmDialog
        title={t("Remove Postmaster Tools")}
        action={t("Remove the key")}
        isDangerous
        target={removed}
        change={removing}
        onClose={() => setRemoved(undefined)}
      >
        {t("The key of {email} is deleted, and no figures are pulled any more. Old ones stay.", {
          email: clientEmail,
        })}
      </ConfirmDialog>
    </>
  );
}

interface ReplaceDialogProps {
  access: PostmasterTools;
  onClose(): void;
}

function ReplaceDialog({ access, onClose }: ReplaceDialogProps) {
  const form = useKeyForm(access, onClose);
  return (
    <FormDialog
      title={t("Replace the key")}
      action={t("Check and save")}
      submission={form.saving}
      opened
      onClose={onClose}
    >
      <KeyFields form={form} isKeyRequired={false} />
    </FormDialog>
  );
}

interface DomainRow {
  name: string;
  state: "pulled" | "hidden" | "foreign";
}

const maxRows = 50;

/** The domains of the organization and those of Google, which have the same names. */
function ShownDomains({ access }: { access: PostmasterTools }) {
  const { data, error } = useQuery(queries.domains());
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={120} />;
  const own = data.domains.map(({ name }) => name);
  const rows: DomainRow[] = [
    ...own.map((name): DomainRow => {
      return { name, state: access.domains.includes(name) ? "pulled" : "hidden" };
    }),
    ...access.domains
      .filter((name) => !own.includes(name))
      .map((name): DomainRow => ({ name, state: "foreign" })),
  ];
  return (
    <Card title={t("Domains that Google shows")}>
      {rows.length > 0 && (
        <PlainTable
          label={t("Domains that Google shows")}
          columns={columns}
          rows={rows.slice(0, maxRows)}
          keyOf={({ name }) => name}
        />
      )}
      {rows.length > maxRows && (
        <p className="quiet">
          {t("{number} more domains are in the API.", {
            number: formatNumber(rows.length - maxRows),
          })}
        </p>
      )}
      {access.domains.length === 0 && <p>{t("Google shows no domain to the account.")}</p>}
      <p className="quiet">
        {tNodes(
          "To add a domain, choose “Manage users” of it in <a>Postmaster Tools</a>, and add the " +
            "address of the service account. Then pull now.",
          { a: link("https://postmaster.google.com/managedomains") },
        )}
      </p>
    </Card>
  );
}

const columns: PlainColumn<DomainRow>[] = [
  { label: t("Domain"), breaks: true, render: ({ name }) => name },
  { label: t("State"), render: ({ state }) => <DomainState state={state} /> },
];

function DomainState({ state }: Pick<DomainRow, "state">) {
  if (state === "pulled") return <StatusMark status={t("Figures are pulled")} tone="good" />;
  return state === "hidden" ? (
    <StatusMark status={t("Google does not show it")} tone="warn" />
  ) : (
    <StatusMark status={t("Not added under Domains")} tone="quiet" />
  );
}
