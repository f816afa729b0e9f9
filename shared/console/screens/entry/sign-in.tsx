import { Anchor, Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import type { SecondFactorRequired } from "pennymail";
import { useState } from "react";
import { api } from "../../data/client.ts";
import { AuthCard } from "../../parts/auth-card.tsx";
import { Form } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";

export function SignIn() {
  const [challenge, setChallenge] = useState<SecondFactorRequired>();
  const enter = useEnter();
  return challenge ? (
    <SecondFactorForm challenge={challenge} onEnter={enter} />
  ) : (
    <PasswordForm onChallenge={setChallenge} onEnter={enter} />
  );
}

/** Goes on to the screen that asked for the sign-in. */
export function useEnter(): () => Promise<void> {
  const { next = "/" } = useSearch({ strict: false });
  const queryClient = useQueryClient();
  const router = useRouter();
  return async () => {
    queryClient.clear();
    // Only an address of the console, so that no link can lead elsewhere after a sign-in.
    await router.navigate({ href: /^\/(?!\/)/.test(next) ? next : "/", replace: true });
  };
}

interface PasswordFormProps {
  onChallenge(challenge: SecondFactorRequired): void;
  onEnter(): Promise<void>;
}

function PasswordForm({ onChallenge, onEnter }: PasswordFormProps) {
  const { next = "/" } = useSearch({ strict: false });
  const email = useTextField();
  const password = useTextField();
  const logIn = useMutation({
    mutationFn: () => api.account.logIn({ email: email.value, password: password.value }),
    onSuccess: async (result) => ("mfaToken" in result ? onChallenge(result) : onEnter()),
  });
  const singleSignOn = email.value.includes("@") && (
    <Button component="a" variant="default" href={singleSignOnUrl(email.value, next)}>
      Sign in with single sign-on
    </Button>
  );
  return (
    <AuthCard title="Sign in">
      <Form action="Sign in" submission={logIn} buttons={singleSignOn}>
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          data-autofocus
          {...email.input}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          {...password.input}
        />
      </Form>
      <p className="quiet">
        <Anchor href="/reset-password">Forgot your password?</Anchor>
        {" · "}
        <Anchor component={Link} to="/sign-up">
          Create an account
        </Anchor>
      </p>
    </AuthCard>
  );
}

/** The domain of the address names the organization, which has its own provider. */
const singleSignOnUrl = (email: string, next: string): string =>
  `/api/v1/auth/sso/start?${new URLSearchParams({ email, returnTo: `/app${next}` })}`;

interface SecondFactorFormProps {
  challenge: SecondFactorRequired;
  onEnter(): Promise<void>;
}

function SecondFactorForm({ challenge, onEnter }: SecondFactorFormProps) {
  const { mfaToken, methods } = challenge;
  const code = useTextField();
  const verify = useMutation({
    mutationFn: () => api.mfa.verifyCode({ mfaToken, code: code.value.trim() }),
    onSuccess: onEnter,
  });
  const sendCode = useMutation({ mutationFn: () => api.mfa.sendCode({ mfaToken }) });
  const emailCode = methods.includes("email_otp") && (
    <Button variant="default" loading={sendCode.isPending} onClick={() => sendCode.mutate()}>
      {sendCode.isSuccess ? "Send another code" : "Send a code by email"}
    </Button>
  );
  return (
    <AuthCard title="Confirm that it is you">
      <Form action="Confirm" submission={verify} error={sendCode.error} buttons={emailCode}>
        <TextInput
          label="Code"
          description={
            methods.includes("totp")
              ? "From your authenticator app, or a recovery code."
              : "From the email that we send you, or a recovery code."
          }
          autoComplete="one-time-code"
          required
          {...code.input}
        />
      </Form>
    </AuthCard>
  );
}
