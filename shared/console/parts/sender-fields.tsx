// The fields of a new sender: a provider, the credentials that it needs, and an address.
import { PasswordInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateSendingConfigRequest, Provider } from "pennymail";
import { useState } from "react";
import { queries } from "../data/queries.ts";
import { wordsOf } from "../format.ts";
import { useTextField } from "./text-field.ts";

type ProviderKey = NonNullable<CreateSendingConfigRequest["provider"]>;

export function useSenderFields() {
  const [provider, setProvider] = useState<string | null>(null);
  const fromEmail = useTextField();
  const fromName = useTextField();
  const credentials = useCredentials();
  const request = (): CreateSendingConfigRequest => ({
    provider: provider as ProviderKey,
    fromEmail: fromEmail.value,
    credentials: credentials.filled(),
    ...(fromName.value && { fromName: fromName.value }),
  });
  return { provider, setProvider, fromEmail, fromName, credentials, request };
}

/** The values of a provider's fields. Empty ones are left out. */
export function useCredentials() {
  const [values, setValues] = useState<Record<string, string>>({});
  return {
    values,
    set: (name: string, value: string) => setValues((old) => ({ ...old, [name]: value })),
    filled: () => Object.fromEntries(Object.entries(values).filter(([, value]) => value)),
  };
}

export function SenderFields({ sender }: { sender: ReturnType<typeof useSenderFields> }) {
  const providers = useQuery(queries.providers()).data?.providers ?? [];
  const { provider, setProvider, fromEmail, fromName, credentials } = sender;
  return (
    <>
      <Select
        label="Provider"
        required
        searchable
        data={providers.map(({ key, name }) => ({ value: key, label: name }))}
        value={provider}
        onChange={setProvider}
      />
      {provider && <CredentialFields provider={provider} credentials={credentials} />}
      <TextInput label="Sender address" type="email" required {...fromEmail.input} />
      <TextInput label="Sender name (optional)" {...fromName.input} />
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
  return fields.map((field) => (
    <CredentialInput
      key={field.name}
      field={isChange ? { ...field, required: false } : field}
      value={credentials.values[field.name] ?? ""}
      onChange={(value) => credentials.set(field.name, value)}
    />
  ));
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
