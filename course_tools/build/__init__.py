"""From chapters/ to notebooks/, exercises/ and solutions/, and the tests of the planted wrong answers."""
