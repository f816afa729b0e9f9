import { Anchor, Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import type { SecondFactorRequired } from "pennymail";
import { type FormEvent, useState } from "react";
import { api } from "../../data/client.ts";
import { AuthCard } from "../../parts/auth-card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";

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
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const logIn = useMutation({
    mutationFn: () => api.account.logIn({ email, password }),
    onSuccess: async (result) => ("mfaToken" in result ? onChallenge(result) : onEnter()),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    logIn.mutate();
  };
  return (
    <AuthCard title="Sign in">
      <form onSubmit={submit} className="stack">
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          data-autofocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <ErrorNote error={logIn.error} />
        <Button type="submit" loading={logIn.isPending}>
          Sign in
        </Button>
        {email.includes("@") && (
          <Button component="a" variant="default" href={singleSignOnUrl(email, next)}>
            Sign in with single sign-on
          </Button>
        )}
      </form>
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
  const [code, setCode] = useState("");
  const verify = useMutation({
    mutationFn: () => api.mfa.verifyCode({ mfaToken, code: code.trim() }),
    onSuccess: onEnter,
  });
  const sendCode = useMutation({ mutationFn: () => api.mfa.sendCode({ mfaToken }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    verify.mutate();
  };
  return (
    <AuthCard title="Confirm that it is you">
      <form onSubmit={submit} className="stack">
        <TextInput
          label="Code"
          description={
            methods.includes("totp")
              ? "From your authenticator app, or a recovery code."
              : "From the email that we send you, or a recovery code."
          }
          autoComplete="one-time-code"
          required
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <ErrorNote error={verify.error ?? sendCode.error} />
        <Button type="submit" loading={verify.isPending}>
          Confirm
        </Button>
        {methods.includes("email_otp") && (
          <Button variant="default" loading={sendCode.isPending} onClick={() => sendCode.mutate()}>
            {sendCode.isSuccess ? "Send another code" : "Send a code by email"}
          </Button>
        )}
      </form>
    </AuthCard>
  );
}
