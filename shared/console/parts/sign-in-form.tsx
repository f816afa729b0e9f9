// The steps of a sign-in: the password, then the second factor if the user has one.

import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { AuthenticationError, type SecondFactorRequired } from "pennymail";
import { type ComponentType, type ReactNode, useState } from "react";
import { api } from "../data/client.ts";
import { t } from "../language/translate.ts";
import { Form } from "./form.tsx";
import { ReadableError } from "./readable-error.ts";
import { useTextField } from "./text-field.ts";

interface SignInFormProps {
  title: string;
  /** Around each step. */
  Frame: ComponentType<{ title: string; children: ReactNode }>;
  /** The only address that can sign in. */
  email?: string;
  /** The way to the single sign-on of an address. */
  singleSignOn(email: string): ReactNode;
  /** Below the password. */
  children?: ReactNode;
  onEnter(): Promise<void>;
}

export function SignInForm(props: SignInFormProps) {
  const { title, Frame, children, onEnter } = props;
  const [challenge, setChallenge] = useState<SecondFactorRequired>();
  return (
    <Frame title={challenge ? t("Confirm that it is you") : title}>
      {challenge ? (
        <SecondFactorStep challenge={challenge} onEnter={onEnter} />
      ) : (
        <>
          <PasswordStep {...props} onChallenge={setChallenge} />
          {children}
        </>
      )}
    </Frame>
  );
}

/** The domain of the address names the organization, which has its own provider. */
export const singleSignOnUrl = (email: string, path: string): string =>
  `/api/v1/auth/sso/start?${new URLSearchParams({ email, returnTo: `/app${path}` })}`;

interface PasswordStepProps extends Pick<SignInFormProps, "email" | "singleSignOn" | "onEnter"> {
  onChallenge(challenge: SecondFactorRequired): void;
}

function PasswordStep({ email: only, singleSignOn, onChallenge, onEnter }: PasswordStepProps) {
  const email = useTextField(only);
  const password = useTextField();
  const logIn = useMutation({
    mutationFn: () =>
      api.account
        .logIn({ email: email.value, password: password.value })
        .catch((error: unknown) => {
          if (!(error instanceof AuthenticationError)) throw error;
          throw new ReadableError(t("The email address or the password is wrong."));
        }),
    onSuccess: async (result) => ("mfaToken" in result ? onChallenge(result) : onEnter()),
  });
  return (
    <Form
      action={t("Sign in")}
      submission={logIn}
      buttons={email.value.includes("@") && singleSignOn(email.value)}
    >
      <TextInput
        label={t("Email")}
        type="email"
        autoComplete="username"
        required
        {...(only === undefined ? { "data-autofocus": true } : { readOnly: true })}
        data-field="email"
        {...email.input}
      />
      <PasswordInput
        label={t("Password")}
        autoComplete="current-password"
        required
        {...(only !== undefined && { "data-autofocus": true })}
        data-field="password"
        {...password.input}
      />
    </Form>
  );
}

interface SecondFactorStepProps {
  challenge: SecondFactorRequired;
  onEnter(): Promise<void>;
}

function SecondFactorStep({ challenge, onEnter }: SecondFactorStepProps) {
  const { mfaToken, methods } = challenge;
  const code = useTextField();
  const verify = useMutation({
    mutationFn: () => api.mfa.verifyCode({ mfaToken, code: code.value.trim() }),
    onSuccess: onEnter,
  });
  const sendCode = useMutation({ mutationFn: () => api.mfa.sendCode({ mfaToken }) });
  const emailCode = methods.includes("email_otp") && (
    <Button variant="default" loading={sendCode.isPending} onClick={() => sendCode.mutate()}>
      {sendCode.isSuccess ? t("Send another code") : t("Send a code by email")}
    </Button>
  );
  return (
    <Form action={t("Confirm")} submission={verify} error={sendCode.error} buttons={emailCode}>
      <TextInput
        label={t("Code")}
        description={
          methods.includes("totp")
            ? t("From your authenticator app, or a recovery code.")
            : t("From the email that we send you, or a recovery code.")
        }
        autoComplete="one-time-code"
        required
        data-field="code"
        {...code.input}
      />
    </Form>
  );
}
