import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";

export function NotFoundScreen() {
  return (
    <div className="empty">
      <h1>There is no such screen</h1>
      <p>The address may be mistyped, or what it showed was deleted.</p>
      <Button component={Link} to="/" variant="default">
        Go to Home
      </Button>
    </div>
  );
}
