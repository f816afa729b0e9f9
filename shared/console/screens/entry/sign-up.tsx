import { Anchor, Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api } from "../../data/client.ts";
import { AuthCard } from "../../parts/auth-card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { useEnter } from "./sign-in.tsx";

const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function SignUp() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [organizationName, setOrganizationName] = useState("");
  const enter = useEnter();
  const signUp = useMutation({
    mutationFn: async () => {
      await api.account.signUp({ email, password, ...(organizationName && { organizationName }) });
      await api.organization.update({ timezone });
    },
    onSuccess: enter,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signUp.mutate();
  };
  return (
    <AuthCard title="Create your account">
      <form onSubmit={submit} className="stack">
        <TextInput
          label="Organization (optional)"
          description="Your company or project. You can change it later."
          autoComplete="organization"
          value={organizationName}
          onChange={(event) => setOrganizationName(event.currentTarget.value)}
        />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          description="At least 8 characters. A few words are easy to remember."
          autoComplete="new-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <ErrorNote error={signUp.error} />
        <Button type="submit" loading={signUp.isPending}>
          Create account
        </Button>
      </form>
      <p className="quiet">
        Do you have an account?{" "}
        <Anchor component={Link} to="/sign-in">
          Sign in
        </Anchor>
      </p>
    </AuthCard>
  );
}
