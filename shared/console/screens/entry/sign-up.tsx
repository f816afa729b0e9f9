import { Anchor, PasswordInput, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../data/client.ts";
import { AuthCard } from "../../parts/auth-card.tsx";
import { Form } from "../../parts/form.tsx";
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
    <AuthCard title="Create your account">
      <Form action="Create account" submission={signUp}>
        <TextInput
          label="Organization (optional)"
          description="Your company or project. You can change it later."
          autoComplete="organization"
          {...organization.input}
        />
        <TextInput label="Email" type="email" autoComplete="username" required {...email.input} />
        <PasswordInput
          label="Password"
          description="At least 8 characters. A few words are easy to remember."
          autoComplete="new-password"
          required
          {...password.input}
        />
      </Form>
      <p className="quiet">
        Do you have an account?{" "}
        <Anchor component={Link} to="/sign-in">
          Sign in
        </Anchor>
      </p>
    </AuthCard>
  );
}
