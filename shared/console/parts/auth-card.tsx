import type { ReactNode } from "react";

const productName = "Pennymail";

/** The frame of the screens before the sign-in. */
export function AuthCard({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="auth">
      <div className="auth-card card">
        <p className="auth-brand">
          <span className="mark" aria-hidden>
            P
          </span>
          {productName}
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
