import { PasswordInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "../language/translate.ts";
import type { useTextField } from "./text-field.ts";

interface NewPasswordInputProps {
  label: string;
  field: ReturnType<typeof useTextField>;
  /** Texts that an attacker knows, such as the address of the user. */
  known: string[];
  className?: string;
}

const minLength = 10;

/** A new password, judged while it is typed, as the API judges it. */
export function NewPasswordInput({ label, field, known, className }: NewPasswordInputProps) {
  const verdict = useVerdict(field.value, known);
  return (
    <div className={className}>
      <PasswordInput
        label={label}
        description={t("At least {minLength} characters. A few words are easy to remember.", {
          minLength,
        })}
        autoComplete="new-password"
        required
        minLength={minLength}
        maxLength={200}
        data-field="password"
        {...field.input}
      />
      <p className="quiet" role="status">
        {verdict}
      </p>
    </div>
  );
}

/** What is wrong with the password, or that it is fine. Empty before something is typed. */
function useVerdict(password: string, known: string[]): string {
  const [verdict, setVerdict] = useState("");
  const knownText = known.join("\n");
  useEffect(() => {
    let isCurrent = true;
    const judge = async () => {
      const text = await judgePassword(password, knownText.split("\n"));
      if (isCurrent) setVerdict(text);
    };
    void judge();
    return () => {
      isCurrent = false;
    };
  }, [password, knownText]);
  return verdict;
}

/** By the verdict of the server. */
const weaknessTexts: Record<string, string> = {
  "is too easy to guess": t("This password is too easy to guess"),
  "is too easy to guess: it contains your name, your address or the name of this service": t(
    "This password is too easy to guess: it contains your name, your address or the name of this " +
      "service",
  ),
  "is too easy to guess: it repeats itself": t(
    "This password is too easy to guess: it repeats itself",
  ),
  "is too easy to guess: it follows a sequence": t(
    "This password is too easy to guess: it follows a sequence",
  ),
  "is too easy to guess: it follows a row of keys": t(
    "This password is too easy to guess: it follows a row of keys",
  ),
  "is too easy to guess: it is like a common password": t(
    "This password is too easy to guess: it is like a common password",
  ),
};

async function judgePassword(password: string, known: string[]): Promise<string> {
  if (password === "") return "";
  if (password.length < minLength)
    return t("{count, plural, one {# more character} other {# more characters}}", {
      count: minLength - password.length,
    });
  // Large, because it has the common passwords.
  const { findWeakness } = await import("../../domain/identity/password-strength.ts");
  const weakness = findWeakness(password, known);
  return weakness === undefined
    ? t("Hard to guess")
    : (weaknessTexts[weakness] ?? `This password ${weakness}`);
}
