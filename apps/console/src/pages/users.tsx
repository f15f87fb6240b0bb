import { PageHead } from '../ui/parts';

/** The page `users`. */
export default function Page() {
  return <PageHead title="users" />;
}
