"""What is fitted offline and shipped: `calibrate` writes a space's calibration."""
