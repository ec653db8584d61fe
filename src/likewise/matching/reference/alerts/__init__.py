"""What an alert means, as pure functions: what moves it, the story of one key, a digest, whose silence is excused."""
