// The fields of a new sender: a provider, the credentials that it needs, and an address.

import { PasswordInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateSendingConfigRequest, Provider } from "pennymail";
import { useState } from "react";
import { api } from "../data/client.ts";
import { queries } from "../data/queries.ts";
import { t } from "../language/translate.ts";
import { credentialTexts, isRarelyNeeded } from "./credential-texts.ts";
import { useTextField } from "./text-field.ts";

type ProviderKey = NonNullable<CreateSendingConfigRequest["provider"]>;

interface KnownSender {
  provider?: string;
  fromEmail?: string | null;
  fromName?: string | null;
}

export function useSenderFields(known: KnownSender = {}) {
  const [provider, setProvider] = useState<string | null>(known.provider ?? null);
  const fromEmail = useTextField(known.fromEmail ?? "");
  const fromName = useTextField(known.fromName ?? "");
  const credentials = useCredentials();
  const request = (): CreateSendingConfigRequest => ({
    provider: provider as ProviderKey,
    fromEmail: fromEmail.value,
    credentials: credentials.filled(),
    ...(fromName.value && { fromName: fromName.value }),
  });
  return { provider, setProvider, fromEmail, fromName, credentials, request };
}

/** Fails if the provider does not know the credentials. One that does not answer is no reason. */
export async function checkCredentials(
  provider: string,
  credentials: Record<string, string>,
): Promise<void> {
  const request = { provider: provider as ProviderKey, credentials };
  const { status, error } = await api.sendingConfigs.checkCredentials(request);
  if (status === "refused") throw new RefusedCredentials(error ?? "");
}

/** The provider does not know the credentials. */
export class RefusedCredentials extends Error {}

/** The values of a provider's fields. Empty ones are left out. */
export function useCredentials() {
  const [values, setValues] = useState<Record<string, string>>({});
  return {
    values,
    set: (name: string, value: string) => setValues((old) => ({ ...old, [name]: value })),
    filled: () => Object.fromEntries(Object.entries(values).filter(([, value]) => value)),
  };
}

interface SenderFieldsProps {
  sender: ReturnType<typeof useSenderFields>;
  /** What a check of the credentials has failed with. */
  error?: unknown;
  /** The provider whose credentials are stored, so that they may stay empty. */
  storedProvider?: string | undefined;
}

export function SenderFields({ sender, error, storedProvider }: SenderFieldsProps) {
  const providers = useQuery(queries.providers()).data?.providers ?? [];
  const { provider, setProvider, fromEmail, fromName, credentials } = sender;
  const name = providers.find(({ key }) => key === provider)?.name;
  return (
    <>
      <Select
        label={t("Provider")}
        required
        searchable
        data={providers.map(({ key, name }) => ({ value: key, label: name }))}
        value={provider}
        onChange={setProvider}
      />
      {provider && (
        <CredentialFields
          provider={provider}
          credentials={credentials}
          isChange={provider === storedProvider}
        />
      )}
      {error instanceof RefusedCredentials && (
        <p className="error-note" role="alert">
          {t("{name} does not know these credentials: “{message}”", {
            name,
            message: error.message,
          })}
        </p>
      )}
      <TextInput
        label={t("Sender address")}
        type="email"
        required
        data-field="fromEmail"
        {...fromEmail.input}
      />
      <TextInput label={t("Sender name (optional)")} data-field="fromName" {...fromName.input} />
    </>
  );
}

interface CredentialFieldsProps {
  provider: string;
  credentials: ReturnType<typeof useCredentials>;
  /** Whether empty fields keep the stored values. */
  isChange?: boolean;
}

/** The fields that the provider needs, as the API describes them. */
export function CredentialFields({ provider, credentials, isChange }: CredentialFieldsProps) {
  const providers = useQuery(queries.providers()).data?.providers ?? [];
  const fields = providers.find(({ key }) => key === provider)?.configFields ?? [];
  const toInput = (field: CredentialField) => {
    const texts = credentialTexts(provider, field);
    return (
      <CredentialInput
        key={field.name}
        texts={texts}
        field={isChange ? { ...field, required: false } : field}
        value={credentials.values[field.name] ?? (isChange ? "" : (texts.default ?? ""))}
        onChange={(value) => credentials.set(field.name, value)}
      />
    );
  };
  const rare = fields.filter(isRarelyNeeded);
  return (
    <>
      {fields.filter((field) => !isRarelyNeeded(field)).map(toInput)}
      {rare.length > 0 && (
        <details className="more-choices">
          <summary>{t("More about the account")}</summary>
          <div className="stack">{rare.map(toInput)}</div>
        </details>
      )}
    </>
  );
}

type CredentialField = Provider["configFields"][number];

interface CredentialInputProps {
  texts: ReturnType<typeof credentialTexts>;
  field: CredentialField;
  value: string;
  onChange(value: string): void;
}

function CredentialInput({ texts, field, value, onChange }: CredentialInputProps) {
  const { required, options, isSecret } = field;
  const label = required ? texts.label : t("{label} (optional)", { label: texts.label });
  if (options)
    return (
      <Select
        label={label}
        description={texts.hint}
        required={required}
        data={options.map((value) => ({ value, label: texts.options[value] ?? value }))}
        value={value || null}
        onChange={(chosen) => onChange(chosen ?? "")}
      />
    );
  const Input = isSecret ? PasswordInput : TextInput;
  return (
    <Input
      label={label}
      description={texts.hint}
      required={required}
      autoComplete="off"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
