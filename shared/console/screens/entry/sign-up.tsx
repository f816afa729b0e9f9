import { Anchor, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { AuthCard } from "../../parts/auth-card.tsx";
import { Form } from "../../parts/form.tsx";
import { NewPasswordInput } from "../../parts/new-password-input.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useEnter } from "./sign-in.tsx";

const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function SignUp() {
  const email = useTextField();
  const password = useTextField();
  const organization = useTextField();
  const enter = useEnter();
  const signUp = useMutation({
    mutationFn: async () => {
      await api.account.signUp({
        email: email.value,
        password: password.value,
        ...(organization.value && { organizationName: organization.value }),
      });
      await api.organization.update({ timezone });
    },
    onSuccess: enter,
  });
  return (
    <AuthCard title={t("Create your account")}>
      <Form action={t("Create account")} submission={signUp}>
        <TextInput
          label={t("Organization (optional)")}
          description={t("Your company or project. You can change it later.")}
          autoComplete="organization"
          data-field="organizationName"
          {...organization.input}
        />
        <TextInput
          label={t("Email")}
          type="email"
          autoComplete="username"
          required
          data-field="email"
          {...email.input}
        />
        <NewPasswordInput
          label={t("Password")}
          field={password}
          known={[email.value, organization.value]}
        />
      </Form>
      <p className="quiet">
        {tNodes("Do you have an account? <anchor>Sign in</anchor>", {
          anchor: (text) => (
            <Anchor component={Link} to="/sign-in">
              {text}
            </Anchor>
          ),
        })}
      </p>
    </AuthCard>
  );
}
