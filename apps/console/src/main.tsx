import { render } from 'preact';
import { App } from './app';
import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/basics.css';
import './style/parts.css';

const root = document.getElementById('console');
if (root !== null) render(<App />, root);
