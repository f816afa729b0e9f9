import { Button, PasswordInput, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  type GetMfaStatusResult,
  type MfaProof,
  PennymailError,
  type UserSession,
} from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatNumber } from "../../format.ts";
import { inSentence, t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard, FormDialog } from "../../parts/form.tsx";
import { NewPasswordInput } from "../../parts/new-password-input.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";

/** How the signed-in user signs in, and where they are signed in. */
export function Security() {
  const { data: status, error } = useQuery(queries.secondFactors());
  return (
    <>
      <ErrorNote error={error} />
      {status ? <SecondFactors status={status} /> : <Skeleton h={160} />}
      <Sessions />
      <PasswordForm />
    </>
  );
}

type Factor = "totp" | "emailOtp";

const names: Record<Factor, string> = {
  totp: t("Authenticator app"),
  emailOtp: t("Code by email"),
};

function SecondFactors({ status }: { status: GetMfaStatusResult }) {
  const { timezone } = useMe().organization;
  const [turningOn, setTurningOn] = useState<Factor>();
  const [turningOff, setTurningOff] = useState<Factor>();
  const [recoveryCodes, setRecoveryCodes] = useState<string[]>();
  const [isReplacing, setReplacing] = useState(false);
  const columns: PlainColumn<Factor>[] = [
    { label: t("Second step"), render: (factor) => names[factor] },
    {
      label: t("Status"),
      render: (factor) => (
        <StatusMark
          status={status[factor].enabled ? t("On") : t("Off")}
          tone={status[factor].enabled ? "good" : "quiet"}
        />
      ),
    },
    {
      label: t("Since"),
      isWide: true,
      render: (factor) => {
        const { enabledAt } = status[factor];
        return enabledAt ? formatAgo(enabledAt, timezone) : "–";
      },
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (factor) =>
        status[factor].enabled ? (
          <Button variant="default" size="compact-xs" onClick={() => setTurningOff(factor)}>
            {t("Turn off")}
          </Button>
        ) : (
          <Button variant="default" size="compact-xs" onClick={() => setTurningOn(factor)}>
            {t("Turn on")}
          </Button>
        ),
    },
  ];
  const finish = (codes: string[] | undefined) => {
    setRecoveryCodes(codes);
    setTurningOn(undefined);
  };
  return (
    <Card title={t("Two-step sign-in")}>
      <p className="quiet">
        {t("With a second step, a stolen password is not enough to sign in as you.")}
      </p>
      <PlainTable
        label={t("Second steps")}
        columns={columns}
        rows={["totp", "emailOtp"]}
        keyOf={(factor) => factor}
      />
      {recoveryCodes ? (
        <RecoveryCodes codes={recoveryCodes} />
      ) : (
        (status.totp.enabled || status.emailOtp.enabled) && (
          <p className="quiet">
            {tNodes(
              "{recoveryCodesLeft} recovery codes are left. <button>Create new codes</button>",
              {
                recoveryCodesLeft: formatNumber(status.recoveryCodesLeft),
                button: (text) => (
                  <Button variant="default" size="compact-xs" onClick={() => setReplacing(true)}>
                    {text}
                  </Button>
                ),
              },
            )}
          </p>
        )
      )}
      {isReplacing && (
        <NewCodesDialog
          onDone={(codes) => {
            setRecoveryCodes(codes);
            setReplacing(false);
          }}
          onClose={() => setReplacing(false)}
        />
      )}
      {turningOn === "totp" && (
        <AppDialog onDone={finish} onClose={() => setTurningOn(undefined)} />
      )}
      {turningOn === "emailOtp" && (
        <EmailCodeDialog onDone={finish} onClose={() => setTurningOn(undefined)} />
      )}
      {turningOff && <TurnOffDialog factor={turningOff} onClose={() => setTurningOff(undefined)} />}
    </Card>
  );
}

function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <div className="answer" role="status">
      <p>
        {t(
          "Keep these recovery codes where you find them without your phone. Each works once. " +
            "They are not shown again.",
        )}{" "}
        <CopyAction value={codes.join("\n")} label={t("Copy the recovery codes")} />
      </p>
      <ul className="codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
    </div>
  );
}

interface CodesDialogProps {
  /** Gets new recovery codes, which come with the first second step and on request. */
  onDone(recoveryCodes: string[] | undefined): void;
  onClose(): void;
}

function AppDialog({ onDone, onClose }: CodesDialogProps) {
  const code = useTextField();
  const password = useTextField();
  const { data, error } = useQuery(queries.totpSecret());
  const enabling = useChange({
    run: () => api.mfa.enableTotp({ code: code.value.trim(), ...toProof(password) }),
    refreshes: ["mfa"],
    onDone: ({ recoveryCodes }) => onDone(recoveryCodes),
  });
  return (
    <FormDialog
      title={t("Authenticator app")}
      action={t("Turn on")}
      submission={enabling}
      error={error}
      opened
      onClose={onClose}
    >
      <p>
        {t("Scan this with your app, or enter the key, then enter the code that the app shows.")}
      </p>
      {data?.qrCode ? (
        <img className="qr-code" src={data.qrCode} alt={t("QR code of the key")} width={200} />
      ) : (
        <Skeleton h={200} w={200} />
      )}
      {data?.secret && (
        <p className="mono breaks">
          {data.secret} <CopyAction value={data.secret} label={t("Copy the key")} />
        </p>
      )}
      <TextInput
        label={t("Code")}
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        data-autofocus
        data-field="code"
        {...code.input}
      />
      {asksForPassword(enabling.error, password) && <CurrentPasswordInput {...password.input} />}
    </FormDialog>
  );
}

function EmailCodeDialog({ onDone, onClose }: CodesDialogProps) {
  const { user } = useMe();
  const password = useTextField();
  const enabling = useChange({
    run: () => api.mfa.enableEmailOtp(toProof(password)),
    refreshes: ["mfa"],
    onDone: ({ recoveryCodes }) => onDone(recoveryCodes),
  });
  return (
    <FormDialog
      title={t("Code by email")}
      action={t("Turn on")}
      submission={enabling}
      opened
      onClose={onClose}
    >
      <p>
        {t("After your password, you enter a code that is mailed to {email}.", {
          email: user.email,
        })}
      </p>
      {asksForPassword(enabling.error, password) && <CurrentPasswordInput {...password.input} />}
    </FormDialog>
  );
}

type TextField = ReturnType<typeof useTextField>;
/** The API asks for the password if the sign-in is more than ten minutes ago. */
const asksForPassword = (error: unknown, { value }: TextField): boolean =>
  value !== "" || (error instanceof PennymailError && error.code === "password_required");
const toProof = ({ value }: TextField) => (value ? { password: value } : {});

const turnOff: Record<Factor, (proof: MfaProof) => Promise<unknown>> = {
  totp: (proof) => api.mfa.disableTotp(proof),
  emailOtp: (proof) => api.mfa.disableEmailOtp(proof),
};

function TurnOffDialog({ factor, onClose }: { factor: Factor; onClose(): void }) {
  const password = useTextField();
  const disabling = useChange({
    run: () => turnOff[factor]({ password: password.value }),
    refreshes: ["mfa"],
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("Turn off: {factor}", { factor: inSentence(names[factor]) })}
      action={t("Turn off")}
      submission={disabling}
      opened
      onClose={onClose}
    >
      <CurrentPasswordInput {...password.input} />
    </FormDialog>
  );
}

function NewCodesDialog({ onDone, onClose }: CodesDialogProps) {
  const password = useTextField();
  const replacing = useChange({
    run: () => api.mfa.replaceRecoveryCodes({ password: password.value }),
    refreshes: ["mfa"],
    onDone: ({ recoveryCodes }) => onDone(recoveryCodes),
  });
  return (
    <FormDialog
      title={t("New recovery codes")}
      action={t("Create new codes")}
      submission={replacing}
      opened
      onClose={onClose}
    >
      <p>{t("The codes that you have now stop working.")}</p>
      <CurrentPasswordInput {...password.input} />
    </FormDialog>
  );
}

const CurrentPasswordInput = (input: TextField["input"]) => (
  <PasswordInput
    label={t("Password")}
    autoComplete="current-password"
    required
    data-autofocus
    data-field="password"
    {...input}
  />
);

function Sessions() {
  const { timezone } = useMe().organization;
  const { data, error } = useQuery(queries.sessions());
  const ending = useChange({
    run: (id: string) => api.account.revokeSession(id),
    refreshes: ["account"],
  });
  const columns: PlainColumn<UserSession>[] = [
    {
      label: t("Device"),
      render: ({ userAgent, address, current }) => (
        <>
          {deviceOf(userAgent)} {current && <span className="tag">{t("This one")}</span>}
          {address && <small>{address}</small>}
        </>
      ),
    },
    {
      label: t("Last used"),
      render: ({ lastUsedAt }) => (lastUsedAt ? formatAgo(lastUsedAt, timezone) : "–"),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: ({ id, current }) =>
        !current && (
          <Button
            variant="default"
            size="compact-xs"
            loading={ending.isPending && ending.variables === id}
            onClick={() => ending.mutate(id)}
          >
            {t("Sign out")}
          </Button>
        ),
    },
  ];
  return (
    <Card title={t("Where you are signed in")}>
      <ErrorNote error={error ?? ending.error} />
      {data ? (
        <PlainTable
          label={t("Sessions")}
          columns={columns}
          rows={data.sessions}
          keyOf={({ id }) => id}
        />
      ) : (
        <Skeleton h={120} />
      )}
    </Card>
  );
}

const systems = ["Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux"];
const browsers: [pattern: RegExp, name: string][] = [
  [/Edg\//, "Edge"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];

/** "Chrome on Linux", or the start of the user agent of a program. */
function deviceOf(userAgent: string | null): string {
  if (!userAgent) return t("Unknown device");
  const browser = browsers.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = systems.find((name) => userAgent.includes(name));
  if (!browser) return userAgent.slice(0, 40);
  return system
    ? t("{browser} on {system}", { browser, system: system.replace("Mac OS X", "Mac") })
    : browser;
}

function PasswordForm() {
  const { user } = useMe();
  const currentPassword = useTextField();
  const newPassword = useTextField();
  const changing = useChange({
    run: () =>
      api.account.changePassword({
        currentPassword: currentPassword.value,
        newPassword: newPassword.value,
      }),
    refreshes: ["account"],
    onDone: () => {
      currentPassword.set("");
      newPassword.set("");
    },
  });
  return (
    <FormCard
      title={t("Password")}
      state={changing.isSuccess ? t("Changed") : ""}
      action={t("Change password")}
      submission={changing}
    >
      <p className="quiet">{t("Your other sessions are signed out.")}</p>
      <PasswordInput
        className="narrow"
        label={t("Current password")}
        autoComplete="current-password"
        required
        data-field="currentPassword"
        {...currentPassword.input}
      />
      <NewPasswordInput
        className="narrow"
        label={t("New password")}
        field={newPassword}
        known={[user.email, user.name ?? ""]}
      />
    </FormCard>
  );
}
