import { PasswordInput, Select, TextInput } from "@mantine/core";
import type { Form, UpdateFormRequest } from "pennymail";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";

type Provider = NonNullable<Form["captcha"]>["provider"];

export interface CaptchaDraft {
  /** Empty: the form has no CAPTCHA. */
  provider: Provider | "";
  siteKey: string;
  /** Empty: the stored one stays. */
  secret: string;
}

export const toCaptchaDraft = (captcha: Form["captcha"]): CaptchaDraft => ({
  provider: captcha?.provider ?? "",
  siteKey: captcha?.siteKey ?? "",
  secret: "",
});

export const toCaptchaRequest = ({
  provider,
  siteKey,
  secret,
}: CaptchaDraft): NonNullable<UpdateFormRequest["captcha"]> | null =>
  provider === ""
    ? null
    : { provider, siteKey: siteKey.trim(), ...(secret.trim() && { secret: secret.trim() }) };

const providers: { value: CaptchaDraft["provider"]; label: string }[] = [
  { value: "", label: t("None") },
  { value: "turnstile", label: t("Cloudflare Turnstile") },
  { value: "hcaptcha", label: "hCaptcha" },
];

interface CaptchaProps {
  captcha: CaptchaDraft;
  /** Whether the form has a secret already. */
  isStored: boolean;
  onChange(changes: Partial<CaptchaDraft>): void;
}

export function CaptchaCard({ captcha, isStored, onChange }: CaptchaProps) {
  return (
    <Card title={t("Protection against bots")}>
      <Select
        label={t("CAPTCHA")}
        description={t("While its provider is down, the form takes no submissions.")}
        allowDeselect={false}
        data={providers}
        value={captcha.provider}
        onChange={(provider) => onChange({ provider: provider as CaptchaDraft["provider"] })}
      />
      {captcha.provider && (
        <>
          <TextInput
            label={t("Site key")}
            required
            maxLength={200}
            value={captcha.siteKey}
            onChange={(event) => onChange({ siteKey: event.currentTarget.value })}
          />
          <PasswordInput
            label={isStored ? t("Secret key (optional)") : t("Secret key")}
            description={isStored ? t("Without one, the stored secret stays.") : undefined}
            required={!isStored}
            maxLength={200}
            autoComplete="off"
            value={captcha.secret}
            onChange={(event) => onChange({ secret: event.currentTarget.value })}
          />
        </>
      )}
    </Card>
  );
}
